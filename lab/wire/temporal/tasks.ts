import proto from '@temporalio/proto';
import type { CallFacts } from './calls.ts';

const { v1 } = proto.temporal.api.workflowservice;

export type Task =
  | { kind: 'workflow'; workflowId: string; startedEventId: string; attempt: number }
  | { kind: 'activity'; workflowId: string; activityId: string; type: string; attempt: number };

/** What a boundary call is about. */
export interface NamedCall {
  rpc: string;
  workflowId: string | undefined;
  /** Undefined for calls that answer no task, and for a task that did not come through this proxy. */
  task: Task | undefined;
  what: string;
}

type WorkflowTask = proto.temporal.api.workflowservice.v1.IPollWorkflowTaskQueueResponse;
type ActivityTask = proto.temporal.api.workflowservice.v1.IPollActivityTaskQueueResponse;

/** Tokens remembered at most; the oldest go first, long after their tasks have timed out. */
const MAX_TOKENS = 50_000;

/** Remembers which task a token stands for: it is given out with a task and is all that its answer says. */
export class Tasks {
  readonly #byToken = new Map<string, Task>();

  /** Reads the tasks in an answer of the server. */
  learn(rpc: string, message: Uint8Array): void {
    switch (rpc) {
      case 'PollWorkflowTaskQueue':
        return this.#workflowTask(v1.PollWorkflowTaskQueueResponse.decode(message));
      case 'PollActivityTaskQueue':
        return this.#activityTask(v1.PollActivityTaskQueueResponse.decode(message));
      case 'StartWorkflowExecution': {
        const { eagerWorkflowTask } = v1.StartWorkflowExecutionResponse.decode(message);
        return this.#workflowTask(eagerWorkflowTask ?? {});
      }
      case 'RespondWorkflowTaskCompleted': {
        // Eager: the next tasks come in the answer to the last, with no poll between.
        const next = v1.RespondWorkflowTaskCompletedResponse.decode(message);
        this.#workflowTask(next.workflowTask ?? {});
        next.activityTasks.forEach((task) => this.#activityTask(task));
        return;
      }
    }
  }

  name(rpc: string, { taskToken, workflowId, activityId }: CallFacts): NamedCall {
    const task = taskToken === undefined ? undefined : this.#byToken.get(keyOf(taskToken));
    const about =
      task === undefined ? (activityId ? `activity ${activityId}` : '') : describe(task);
    const unknown = taskToken !== undefined && task === undefined ? 'unknown task' : '';
    return {
      rpc,
      workflowId: task?.workflowId ?? workflowId,
      task,
      what: [rpc, about, unknown].filter((part) => part !== '').join(' '),
    };
  }

  #workflowTask(task: WorkflowTask): void {
    this.#remember(task.taskToken, {
      kind: 'workflow',
      workflowId: task.workflowExecution?.workflowId ?? '',
      startedEventId: String(task.startedEventId ?? ''),
      attempt: task.attempt ?? 1,
    });
  }

  #activityTask(task: ActivityTask): void {
    this.#remember(task.taskToken, {
      kind: 'activity',
      workflowId: task.workflowExecution?.workflowId ?? '',
      activityId: task.activityId ?? '',
      type: task.activityType?.name ?? '',
      attempt: task.attempt ?? 1,
    });
  }

  #remember(token: Uint8Array | null | undefined, task: Task): void {
    // A poll that ran out is answered with an empty task.
    if (!token || token.length === 0) return;
    this.#byToken.set(keyOf(token), task);
    const [oldest] = this.#byToken.keys();
    if (this.#byToken.size > MAX_TOKENS && oldest !== undefined) this.#byToken.delete(oldest);
  }
}

function keyOf(token: Uint8Array): string {
  return Buffer.from(token).toString('base64');
}

function describe(task: Task): string {
  const name =
    task.kind === 'workflow'
      ? `task ${task.startedEventId}`
      : `activity ${task.activityId} ${task.type}`;
  return `${name} attempt ${task.attempt}`;
}
