import { readFile } from 'node:fs/promises';

/** What /proc counts processor time in: 100 ticks a second on every Linux of today. */
const TICK_MS = 10;

export interface Usage {
  cpuMs: number;
  memoryMb: number;
}

/** Processor time that a process has had, and the memory it holds. Linux only. */
export async function usageOf(pid: number): Promise<Usage> {
  // After the command's name, which is in brackets and may hold spaces: utime and stime are the 12th and 13th.
  const stat = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ').at(-1)?.split(' ') ?? [];
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return {
    cpuMs: (Number(stat[11]) + Number(stat[12])) * TICK_MS,
    memoryMb: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024,
  };
}
