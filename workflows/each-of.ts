/**
 * Does the work for every item, `atOnce` at a time. The first error stops what has not begun, and is
 * thrown when what has begun is done, so that nothing goes on behind the caller's back.
 */
export async function eachOf<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const errors: unknown[] = [];
  const lane = async () => {
    for (const item of waiting) {
      try {
        await work(item);
      } catch (error) {
        errors.push(error);
      }
      if (errors.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, lane));
  if (errors.length > 0) throw errors[0];
}
