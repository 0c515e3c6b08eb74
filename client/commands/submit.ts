import type { Pipeline, SubmitResult } from '../../core/contract.ts';
import { businessKey } from '../../core/identity.ts';
import type { OrderId } from '../../core/identity.ts';
import { orderIdOf } from '../../core/order/run-input.ts';
import type { Answer } from '../answer.ts';
import { messageOf } from '../errors.ts';
import { EXIT, worstOf } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { readFiles } from '../read-files.ts';
import type { OrderInFile } from '../read-files.ts';
import type { Session } from '../session.ts';
import { startedInWords } from '../view/submitted.ts';
import { text } from '../view/text.ts';

type Submitted = SubmitResult | { kind: 'not-submitted'; id: OrderId; reason: string };

/** Checks every file, then submits every order. A line for each; the code is that of the worst. */
export async function submit(session: Session, files: readonly string[]): Promise<Answer> {
  const items = await readFiles(files, session.stdin);
  const pipeline = await session.pipeline();
  const results: { item: OrderInFile; result: Submitted }[] = [];
  // In the order given, so that the lines come in it and a broken connection leaves a clear cut.
  for (const item of items) {
    results.push({ item, result: await submitOne(pipeline, item) });
  }
  const told = results.map(({ item, result }) => ({
    file: item.file,
    order: businessKey(result.id),
    result,
  }));
  const several = files.length > 1;
  return {
    exitCode: worstOf(results.map(({ result }) => exitCodeOf(result))),
    json: { orders: told },
    out: told.map(({ file, order, result }) => {
      return text`${order}  ${inWords(result)}${several ? `  (${file})` : ''}`;
    }),
  };
}

async function submitOne(pipeline: Pipeline, { order }: OrderInFile): Promise<Submitted> {
  try {
    return await pipeline.submit(order);
  } catch (error) {
    // The others are still reported: the user must know which orders run and which don't.
    return { kind: 'not-submitted', id: orderIdOf(order), reason: messageOf(error) };
  }
}

function inWords(result: Submitted): string {
  switch (result.kind) {
    case 'conflict':
      return 'conflict: this reference is taken by an order with other content';
    case 'not-submitted':
      return `not submitted: ${result.reason}`;
    default:
      return startedInWords(result);
  }
}

function exitCodeOf({ kind }: Submitted): ExitCode {
  if (kind === 'conflict') return EXIT.conflict;
  return kind === 'not-submitted' ? EXIT.unexpected : EXIT.done;
}
