import { z } from 'zod';

/** One version of a worker deployment: the same name in every version, a build id of its own in each. */
export interface Deployment {
  name: string;
  buildId: string;
  /** What becomes of a run that began here when a later version becomes current. */
  versioning: 'pinned' | 'auto-upgrade';
}

/** The server refuses these too, but a worker that it refuses polls on without a word. */
export const deploymentName = z
  .string()
  .regex(/^[A-Za-z0-9][\w+-]{0,99}$/, 'must begin with a letter or digit, then those, _, + or -');

/** Words that `q2t versions` uses for other things. */
const TAKEN = ['unversioned', 'auto-upgrade'];

/** One word on a command line: `1.4.0`, a commit. */
export const buildId = z
  .string()
  .regex(
    /^[A-Za-z0-9][\w.+-]{0,99}$/,
    'must begin with a letter or digit, then those, ., _, + or -',
  )
  .refine((id) => !TAKEN.includes(id), `must be another word than ${TAKEN.join(' and ')}`);

interface DeploymentSettings {
  Q2T_DEPLOYMENT?: string | undefined;
  Q2T_BUILD_ID?: string | undefined;
  Q2T_VERSIONING?: Deployment['versioning'] | undefined;
}

/** Adds the deployment that the settings make together, undefined for an unversioned worker. Half of one is a fault. */
export function withDeployment<T extends DeploymentSettings>(
  settings: T,
  context: z.RefinementCtx,
): T & { deployment: Deployment | undefined } {
  const { Q2T_DEPLOYMENT: name, Q2T_BUILD_ID: id, Q2T_VERSIONING: versioning } = settings;
  if (name !== undefined && id !== undefined) {
    const deployment = { name, buildId: id, versioning: versioning ?? 'auto-upgrade' } as const;
    return { ...settings, deployment };
  }
  if (name !== undefined) missing('Q2T_BUILD_ID', 'Q2T_DEPLOYMENT');
  else if (id !== undefined) missing('Q2T_DEPLOYMENT', 'Q2T_BUILD_ID');
  else if (versioning !== undefined) missing('Q2T_DEPLOYMENT', 'Q2T_VERSIONING');
  return { ...settings, deployment: undefined };

  function missing(setting: string, given: string): void {
    context.addIssue({
      code: 'custom',
      path: [setting],
      message: `is missing: a version of a deployment has a name and a build id, and ${given} is set`,
    });
  }
}
