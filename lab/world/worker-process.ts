import type { SupervisedProcess } from '../../stack/process.ts';
import type { WorkerHandle } from './world.ts';

/** A supervised process as a scenario sees it. */
export function handleOf(process: SupervisedProcess): WorkerHandle {
  const pid = process.pid;
  if (pid === undefined) throw new Error(`${process.name} is not running`);
  return {
    pid,
    kill: () => process.kill(),
    freeze: () => process.signal('SIGSTOP'),
    thaw: () => process.signal('SIGCONT'),
    stop: () => process.stop(),
  };
}
