import type { SupervisedProcess } from '../../stack/process.ts';
import type { WorkerHandle } from './world.ts';

/** A supervised process as a scenario sees it. `clientOf` says what the wire calls the one with that pid. */
export function handleOf(
  process: SupervisedProcess,
  clientOf: (pid: number) => string,
): WorkerHandle {
  const pid = process.pid;
  if (pid === undefined) throw new Error(`${process.name} is not running`);
  return {
    pid,
    client: clientOf(pid),
    kill: () => process.kill(),
    freeze: () => process.signal('SIGSTOP'),
    thaw: () => process.signal('SIGCONT'),
    stop: () => process.stop(),
  };
}
