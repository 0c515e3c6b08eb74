import type { OrderId } from '../../core/identity.ts';
import type { World } from '../world/world.ts';

/** The answer to "where is it?", for people. */
export async function whereInWords({ pipeline }: World, id: OrderId): Promise<string> {
  const answer = await pipeline.where(id);
  if (answer.kind === 'cannot') return `cannot say: ${answer.reason}`;
  if (answer.kind === 'not-found') return 'not found';
  const { step, status, attempts, waitingFor } = answer.position;
  const attempt = attempts > 0 ? `, attempt ${attempts}` : '';
  return `at step ${step}, ${status}${attempt}${waitingFor ? `, waiting for ${waitingFor.kind}` : ''}`;
}

/** 1,310 ms as "1.3 s". */
export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
