/** The worker's own count, from its metrics endpoint. */
export async function staleWritesRefused(port: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  const found = /^q2t_stale_writes_refused_total (\d+)$/m.exec(await response.text());
  if (!found?.[1]) throw new Error('the metrics do not count stale writes');
  return Number(found[1]);
}
