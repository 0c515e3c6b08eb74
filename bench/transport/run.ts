import { describeMachine, type Machine } from '../machine.ts';
import { startServer } from '../server.ts';
import type { Mode } from './contender.ts';
import { graphileWorker } from './graphile-worker.ts';
import { measureCell, type Cell } from './measure.ts';
import { measureNotify, type NotifyResult } from './notify.ts';
import { ours, oursFlushed } from './ours.ts';
import { pgBoss } from './pg-boss.ts';
import { sizeOf, type Plan } from './plan.ts';

export const CONTENDERS = [ours, oursFlushed, pgBoss, graphileWorker];

export interface MeasuredCell extends Cell {
  contender: string;
  mode: Mode;
  oldSnapshot: boolean;
  round: number;
}

export interface TransportResult {
  machine: Machine;
  plan: Plan;
  cells: MeasuredCell[];
  notify: NotifyResult;
}

/**
 * Every contender in every mode, one after the other and round after round (A B A B), so that a
 * machine that gets busy or warm does so to all of them. `progress` is told about each cell before it.
 */
export async function runTransportBench(
  plan: Plan,
  progress: (text: string) => void,
): Promise<TransportResult> {
  const server = await startServer();
  try {
    const machine = await describeMachine(server.url);
    const cells: MeasuredCell[] = [];
    const settings = [
      ...plan.modes.map((mode) => ({ mode, oldSnapshot: false })),
      ...plan.oldSnapshotModes.map((mode) => ({ mode, oldSnapshot: true })),
    ];
    for (const { mode, oldSnapshot } of settings) {
      for (let round = 1; round <= plan.rounds; round += 1) {
        for (const contender of CONTENDERS) {
          const where = `${mode.workers} workers, batches of ${mode.batch}, round ${round}`;
          progress(`${where}${oldSnapshot ? ', old snapshot' : ''}: ${contender.name}`);
          const cell = await measureCell(server, contender, mode, sizeOf(plan, mode), oldSnapshot);
          cells.push({ contender: contender.name, mode, oldSnapshot, round, ...cell });
        }
      }
    }
    progress('NOTIFY and committing producers');
    const notify = await measureNotify(server, plan.notifyProducers, plan.notifySends);
    return { machine, plan, cells, notify };
  } finally {
    await server.stop();
  }
}
