import { failureLines, type Answer } from './answer.ts';
import { withBundle } from './gate/bundle.ts';
import { replayGate } from './gate/gate.ts';
import { filesOf, readHistory } from './history/file.ts';
import { STAGES_IN_FLIGHT } from './stages.ts';

export interface RecordedOptions {
  /** Default: every history of the stages whose runs may be open. */
  files: readonly string[];
  /** Default: the workflows as they are now. */
  bundle?: string;
  cut: boolean;
  announce: (text: string) => void;
}

/** Replays recorded histories. Throws when a file is none. */
export async function replayRecorded(options: RecordedOptions): Promise<Answer> {
  const { bundle: bundleFile, cut, announce } = options;
  const files = options.files.length > 0 ? options.files : await filesInFlight();
  const histories = await Promise.all(files.map((file) => readHistory(file)));
  const result = await withBundle(bundleFile, (bundle) =>
    replayGate(bundle, histories, { cut, announce }),
  );
  const { failures, cuts } = result;
  const parts = cut ? `, and ${cuts} beginnings of them` : '';
  const verdict =
    failures.length === 0
      ? 'the code does what they say'
      : `the code does not follow ${failures.length}: a run that stands there would stall`;
  const summary = `${histories.length} histories${parts} replayed: ${verdict}.`;
  return {
    ok: failures.length === 0,
    text: [...failureLines(failures), summary].join('\n'),
    json: result,
  };
}

async function filesInFlight(): Promise<string[]> {
  const files = await Promise.all(STAGES_IN_FLIGHT.map((stage) => filesOf(stage)));
  return files.flat();
}
