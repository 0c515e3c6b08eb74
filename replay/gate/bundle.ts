import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';
import type { WorkflowBundle, WorkflowBundleOption } from '@temporalio/worker';
import { badInput } from '../../client/errors.ts';
import { bundleWorkflows } from '../../stack/parts.ts';
import { workflowsOf, type Stage } from '../stages.ts';

/**
 * Lends the bundle to replay against to `work`: that of `workflows/` as it is now, or the one in `file`.
 * Throws when there is no such file, or when the workflows can't be bundled.
 */
export async function withBundle<T>(
  file: string | undefined,
  work: (bundle: WorkflowBundleOption) => Promise<T>,
): Promise<T> {
  if (file !== undefined) {
    await access(file).catch(() => {
      throw badInput(`there is no bundle at ${file}: npm run build -- ${file} makes one`);
    });
    return work({ codePath: resolve(file) });
  }
  const dir = await mkdtemp(join(tmpdir(), 'q2t-replay-'));
  try {
    return await work({ codePath: await bundleWorkflows(dir) });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The bundle of the workflows as they are at that stage of the change, with the interceptors in the files given. */
export function bundleStage(
  stage: Stage,
  interceptors: readonly string[] = [],
): Promise<WorkflowBundle> {
  return bundleWorkflowCode({
    workflowsPath: workflowsOf(stage),
    workflowInterceptorModules: [...interceptors],
    logger: new DefaultLogger('ERROR'),
  });
}
