import Table from 'cli-table3';
import { clean } from './text.ts';

const NONE = { top: '', 'top-mid': '', 'top-left': '', 'top-right': '' };
const NO_BORDERS = {
  ...NONE,
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** Rows under their headings, without lines, so that it can be read aloud and cut by `awk`. Cells are cleaned. */
export function tableLines(head: string[], rows: readonly (readonly string[])[]): string[] {
  const table = new Table({
    head,
    chars: NO_BORDERS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows.map((cells) => cells.map(clean)));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}
