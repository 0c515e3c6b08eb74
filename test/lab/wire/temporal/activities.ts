import { appendFile } from 'node:fs/promises';
import { activityInfo } from '@temporalio/activity';

/** Activities whose effect is a line in a file, so that it can be counted from outside. */
export function createEffects(file: string) {
  return {
    async act(what: string): Promise<string> {
      const { attempt, workflowExecution } = activityInfo();
      await appendFile(file, `${workflowExecution?.workflowId} ${what} attempt ${attempt}\n`);
      return what;
    },
    async failTwice(): Promise<string> {
      const { attempt } = activityInfo();
      if (attempt < 3) throw new Error(`attempt ${attempt}`);
      return `attempt ${attempt}`;
    },
    async large(bytes: number): Promise<string> {
      return 'x'.repeat(bytes);
    },
  };
}

export type Effects = ReturnType<typeof createEffects>;
