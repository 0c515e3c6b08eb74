import { cpus, loadavg, totalmem } from 'node:os';

/** What measured figures depend on, in a sentence. */
export function machineInWords(): string {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  const load = (loadavg()[0] ?? 0).toFixed(1);
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, ${cpu?.model ?? 'unknown'}, ${cpus().length} cores, ${memory} GB, Node ${process.version}, load ${load} at the end.`;
}
