import type { Pipeline } from '../../core/contract.ts';
import { businessKey } from '../../core/identity.ts';
import type { MoveResult, RolloutResult } from '../../core/versions.ts';
import type { Answer } from '../answer.ts';
import { cannot } from '../endings.ts';
import { CommandError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import { resolveOrder } from '../references.ts';
import type { Session } from '../session.ts';
import { commandOn } from '../view/commands.ts';
import { text } from '../view/text.ts';
import { patchLines, versionLines } from '../view/versions.ts';
import { when } from '../view/time.ts';

export interface VersionsOptions {
  by: string;
}

/** Every version with its runs and workers, and whether it may be switched off. */
export async function listVersions(session: Session): Promise<Answer> {
  const pipeline = await session.pipeline();
  const result = await pipeline.versions.list();
  if (result.kind === 'cannot') throw cannot(pipeline, result);
  const { versions, patches, changed } = result;
  const at = changed?.at === undefined ? '' : `, ${when(changed.at, session.now)}`;
  return {
    exitCode: EXIT.done,
    json: { result },
    out: [
      ...versionLines(versions, session.now),
      ...(patches.length > 0 ? ['', ...patchLines(patches)] : []),
    ],
    err: changed === undefined ? [] : [text`Last changed by ${changed.by}${at}`],
  };
}

/** All new runs begin on `version` from now on. */
export async function setCurrent(
  session: Session,
  version: string,
  { by }: VersionsOptions,
): Promise<Answer> {
  const pipeline = await session.pipeline();
  return rolloutAnswer(pipeline, await pipeline.versions.setCurrent(version, by));
}

/** So many of a hundred new runs begin on `version`. */
export async function ramp(
  session: Session,
  version: string,
  percent: number,
  { by }: VersionsOptions,
): Promise<Answer> {
  const pipeline = await session.pipeline();
  return rolloutAnswer(pipeline, await pipeline.versions.ramp(version, percent, by));
}

/** An open order goes on with the code of another version. */
export async function move(
  session: Session,
  reference: string,
  version: string,
  { by, buyer }: VersionsOptions & { buyer?: string },
): Promise<Answer> {
  const pipeline = await session.pipeline();
  const id = await resolveOrder(pipeline, reference, buyer);
  const order = businessKey(id);
  const result = await pipeline.versions.move(id, version, by);
  const json = { order, result };
  if (result.kind !== 'moved') return refused(pipeline, result, json);
  const { from, to } = result;
  return {
    exitCode: EXIT.done,
    json,
    out: [text`${order} moved from ${from} to ${to} by ${by}`],
    err: [commandOn(session.on, `where ${order}`)],
  };
}

function rolloutAnswer(pipeline: Pipeline, result: RolloutResult): Answer {
  if (result.kind !== 'changed') return refused(pipeline, result, { result });
  const { current, ramping } = result;
  const ramp = ramping ? text`, ${ramping.percent} of 100 on ${ramping.version}` : '';
  return {
    exitCode: EXIT.done,
    json: { result },
    out: [text`new runs begin on ${current}${ramp}`],
    err: [commandOn(pipeline.implementation, 'versions')],
  };
}

type Refusal = Exclude<RolloutResult | MoveResult, { kind: 'changed' | 'moved' }>;

function refused(pipeline: Pipeline, result: Refusal, json: Record<string, unknown>): Answer {
  switch (result.kind) {
    case 'conflict':
      return { exitCode: EXIT.conflict, json, out: [text`not changed: ${result.reason}`] };
    case 'not-found':
      throw new CommandError(EXIT.notFound, result.reason, {
        hint: `${commandOn(pipeline.implementation, 'versions')} lists what there is.`,
      });
    case 'cannot':
      throw cannot(pipeline, result);
    default:
      return result satisfies never;
  }
}
