import { proxySinks } from '@temporalio/workflow';
import type { Sinks, WorkflowInterceptorsFactory } from '@temporalio/workflow';
import type { ThinkInput } from '../../agent/think.ts';

/** Told of the version of prompt and tools that a run asks the model in: replay does not compare it. */
export interface ThinkVersions extends Sinks {
  think: { asked(version: string): void };
}

/** Made part of a bundle by the test of stages. Changes nothing that the workflows ask for. */
export const interceptors: WorkflowInterceptorsFactory = () => {
  const { think } = proxySinks<ThinkVersions>();
  return {
    outbound: [
      {
        scheduleActivity(call, next) {
          if (call.activityType === 'think') {
            const [{ input }] = call.args as [{ input: ThinkInput }];
            think.asked(input.version);
          }
          return next(call);
        },
      },
    ],
  };
};
