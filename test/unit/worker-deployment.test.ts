import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { z } from 'zod';
import { PATCHES } from '../../client/pipelines/temporal/versions-list.ts';
import { buildId, deploymentName, withDeployment } from '../../workers/deployment.ts';

const settings = z
  .object({
    Q2T_DEPLOYMENT: deploymentName.optional(),
    Q2T_BUILD_ID: buildId.optional(),
    Q2T_VERSIONING: z.enum(['pinned', 'auto-upgrade']).optional(),
  })
  .transform(withDeployment);

test('name and build id together make a version of a deployment, which upgrades unless it is pinned', () => {
  const both = { Q2T_DEPLOYMENT: 'orders', Q2T_BUILD_ID: '1.4.0+b9d398d' };
  const version = { name: 'orders', buildId: '1.4.0+b9d398d' };
  assert.deepEqual(settings.parse(both).deployment, { ...version, versioning: 'auto-upgrade' });
  const pinned = settings.parse({ ...both, Q2T_VERSIONING: 'pinned' });
  assert.deepEqual(pinned.deployment, { ...version, versioning: 'pinned' });
  assert.equal(settings.parse({}).deployment, undefined);
});

test('half of a version is refused, and says what is missing', () => {
  const halves = [
    [{ Q2T_DEPLOYMENT: 'orders' }, 'Q2T_BUILD_ID'],
    [{ Q2T_BUILD_ID: '1' }, 'Q2T_DEPLOYMENT'],
    [{ Q2T_VERSIONING: 'pinned' }, 'Q2T_DEPLOYMENT'],
  ] as const;
  for (const [half, missing] of halves) {
    const [issue, ...more] = settings.safeParse(half).error?.issues ?? [];
    assert.deepEqual(more, []);
    assert.deepEqual(issue?.path, [missing]);
    assert.match(issue.message, /is missing/);
  }
});

test('a name that the server would refuse without a word to the worker is refused here', () => {
  for (const name of ['or.ders', 'or:ders', '__orders', '', 'or ders']) {
    assert.ok(!settings.safeParse({ Q2T_DEPLOYMENT: name, Q2T_BUILD_ID: '1' }).success, name);
  }
  for (const id of ['unversioned', 'auto-upgrade', 'a b', '-1', 'orders:1']) {
    const { success } = settings.safeParse({ Q2T_DEPLOYMENT: 'orders', Q2T_BUILD_ID: id });
    assert.ok(!success, id);
  }
});

test('versions counts the runs of every patch that the workflows ask for', async () => {
  const folder = new URL('../../workflows/', import.meta.url);
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const sources = await Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')));
  const asked = sources.flatMap((source) =>
    [...source.matchAll(/\b(?:patched|deprecatePatch)\('([^']+)'\)/g)].map(([, patch]) => patch),
  );
  assert.deepEqual([...new Set(asked)].toSorted(), [...PATCHES.keys()].toSorted());
});
