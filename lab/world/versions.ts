import type { World } from './world.ts';

/** New runs begin with this version from now on. Throws when the implementation refuses. */
export async function makeCurrent({ pipeline }: World, version: string): Promise<void> {
  const answer = await pipeline.versions.setCurrent(version, 'lab');
  if (answer.kind !== 'changed') {
    throw new Error(`version ${version} is not current: ${answer.kind}, ${answer.reason}`);
  }
}
