import { setTimeout as delay } from 'node:timers/promises';
import type {
  AgentPipeline,
  AgentPosition,
  AgentWhereResult,
} from '../../../core/agent/contract.ts';
import type { OrderId } from '../../../core/identity.ts';
import type { Session } from '../../session.ts';
import { historyLines } from '../../view/history.ts';

const LOOK_EVERY_MS = 500;

/**
 * Tells each new entry of the history as it comes, until the run rests: it has ended, or waits for somebody.
 * Returns where it is then.
 */
export async function follow(
  session: Session,
  agents: AgentPipeline,
  id: OrderId,
): Promise<AgentWhereResult> {
  for (let told = 0; ;) {
    const result = await agents.where(id);
    if (result.kind !== 'position') return result;
    const { history, historyCut = 0 } = result.position;
    const news = history.slice(Math.max(0, told - historyCut));
    for (const line of historyLines(news)) session.progress(line);
    told = historyCut + history.length;
    if (rests(result.position)) return result;
    await delay(LOOK_EVERY_MS);
  }
}

/** Nothing happens any more unless somebody does something. A question that has just been answered is open until a worker has taken the answer up. */
export function rests({ status, waitingFor, history }: AgentPosition): boolean {
  if (status === 'ended' || status === 'stuck') return true;
  if (waitingFor?.kind !== 'person') return false;
  const { gate, gateVersion } = waitingFor;
  return !history.some(
    (entry) => entry.type === 'decided' && entry.gate === gate && entry.gateVersion === gateVersion,
  );
}
