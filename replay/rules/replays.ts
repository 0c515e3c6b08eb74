import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { findDeviation } from '../gate/find.ts';
import { deviationInWords } from '../../client/pipelines/temporal/deviation.ts';
import { replayQuietly } from '../gate/quiet.ts';
import { replayAll } from '../gate/replay.ts';
import { asType } from '../history/as-type.ts';
import { HISTORIES_DIR, readHistory, type History, type KnownHistory } from '../history/file.ts';
import { CURRENT_STAGE } from '../stages.ts';
import { differenceOf } from './asked.ts';
import { labelOf, UNCHANGED } from './rule.ts';
import { rules } from './rules.ts';

/** What the new run of an edit left behind, or of the unchanged code. */
export interface FreshRun {
  workflowId: string;
  orderRef: string;
  /** As the SDK writes it to JSON. */
  history: unknown;
  /** Whether it came to its end. */
  ended: boolean;
}

/** Where the code leaves the history of a run. */
export interface DeviationOf {
  /** "event 20 of plain the history …"; absent where the code throws. */
  at?: string;
  /** What the code does there. */
  code: string;
}

/** What replay says of an edit. */
export interface ReplaysOf {
  /** Of the first run that is in flight when the edit comes, and cannot go on. */
  inFlight?: DeviationOf;
  /** Of a run that began with it. */
  fresh?: DeviationOf;
  /** What a run that began with it asks for otherwise. */
  differs?: string;
}

/**
 * The recorded runs that are in flight. More than one, since replay compares the order of what is asked
 * for and not when: what is asked for too early shows only in a run that never came to it.
 */
const PATHS = ['plain', 'refused-by-the-bureau', 'cancelled-at-credit', 'card-declined'];

/**
 * `node replay/rules/replays.ts FOLDER`, with what `prepare.ts` has put there and the new runs in
 * `fresh.json`: replays, for every edit that could be bundled, recorded runs, the run of the unchanged
 * code, and its own. Writes `replayed.json`.
 */
const [, , root = ''] = process.argv;
replayQuietly();
const fresh = JSON.parse(await readFile(join(root, 'fresh.json'), 'utf8')) as Record<
  string,
  FreshRun
>;
const bundled = rules.filter((rule) => fresh[labelOf(rule)] !== undefined);

/** Of each label the first run that fails, and its own. */
const failed = new Map<string, { known: KnownHistory; error: string }>();

async function* histories(): AsyncGenerator<KnownHistory> {
  const files = PATHS.map((path) => join(HISTORIES_DIR, CURRENT_STAGE, `${path}.json`));
  const recorded = await Promise.all(files.map((file) => readHistory(file)));
  // Two lines, so that it also meets what is done for each of them.
  const inFlight = [...recorded, known(UNCHANGED, UNCHANGED)];
  for (const rule of bundled) {
    const label = labelOf(rule);
    for (const each of inFlight) {
      if (failed.has(label)) break;
      const path = each.name.split('/').at(-1) ?? '';
      yield asType({ ...each, name: `${label} ${path}` }, label);
    }
    if (fresh[label]?.ended) yield { ...known(label, label), name: `${label} fresh` };
  }
}

const bundle = { codePath: join(root, 'bundle.js') };
for await (const { known, name, error } of replayAll(bundle, histories())) {
  const [label, run] = name.split(' ');
  const key = run === 'fresh' ? name : `${label}`;
  if (error !== undefined && !failed.has(key)) failed.set(key, { known, error });
}
const replayed: Record<string, ReplaysOf> = {};
for (const rule of bundled) {
  const label = labelOf(rule);
  const [inFlight, own] = [await deviationIn(label), await deviationIn(`${label} fresh`)];
  const differs = differenceOf(parts(label), parts(UNCHANGED));
  replayed[label] = {
    ...(inFlight && { inFlight }),
    ...(own && { fresh: own }),
    ...(differs !== undefined && { differs }),
  };
}
await writeFile(join(root, 'replayed.json'), JSON.stringify(replayed));

async function deviationIn(key: string): Promise<DeviationOf | undefined> {
  const failure = failed.get(key);
  if (!failure) return undefined;
  const { known: history, error } = failure;
  const path = history.name.split(' ')[1] ?? '';
  // Where code throws tells nothing more, and is dear to find.
  const thrown = deviationInWords(error);
  if (thrown.startsWith('throws: ')) return { code: thrown };
  const { eventId, history: says, code } = await findDeviation(bundle, history, error);
  return { at: `event ${eventId} of ${path} the history ${says}`, code };
}

function run(label: string): FreshRun {
  const found = fresh[label];
  if (!found) throw new Error(`no run of ${label}`);
  return found;
}

function known(label: string, name: string): KnownHistory {
  const { workflowId, history } = run(label);
  return { name, workflowId, history: historyFromJSON(history) };
}

function parts(label: string): { history: History; orderRef: string } {
  return { history: known(label, label).history, orderRef: run(label).orderRef };
}
