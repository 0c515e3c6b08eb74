import proto from '@temporalio/proto';

const { v1 } = proto.temporal.api.workflowservice;

/** What a request says about itself. A worker's answers carry their task's token and nothing else. */
export interface CallFacts {
  /** Who calls: a worker's identity. */
  identity: string;
  taskToken?: Uint8Array;
  workflowId?: string;
  activityId?: string;
}

type Read = (message: Uint8Array) => CallFacts;
interface Decoder<T> {
  decode(message: Uint8Array): T;
}

const byToken =
  (type: Decoder<{ identity: string; taskToken: Uint8Array }>): Read =>
  (message) => {
    const { identity, taskToken } = type.decode(message);
    return { identity, taskToken };
  };

const byId =
  (type: Decoder<{ identity: string; workflowId: string; activityId?: string }>): Read =>
  (message) => {
    const { identity, workflowId, activityId = '' } = type.decode(message);
    return { identity, workflowId, activityId };
  };

const byExecution =
  (
    type: Decoder<{ identity?: string; workflowExecution?: { workflowId?: string | null } | null }>,
  ): Read =>
  (message) => {
    const { identity = '', workflowExecution } = type.decode(message);
    return { identity, workflowId: workflowExecution?.workflowId ?? '' };
  };

const updateWithStart: Read = (message) => {
  const [first] = v1.ExecuteMultiOperationRequest.decode(message).operations;
  const { identity, workflowId } = first?.startWorkflow ?? {};
  return { identity: identity ?? '', workflowId: workflowId ?? '' };
};

/**
 * The calls that make something durable. All others are no boundaries: polls, descriptions, heartbeats
 * of workers and activities, health, answers to queries, a worker that says goodbye.
 */
const boundaries = new Map<string, Read>([
  ['RespondWorkflowTaskCompleted', byToken(v1.RespondWorkflowTaskCompletedRequest)],
  ['RespondWorkflowTaskFailed', byToken(v1.RespondWorkflowTaskFailedRequest)],
  ['RespondActivityTaskCompleted', byToken(v1.RespondActivityTaskCompletedRequest)],
  ['RespondActivityTaskFailed', byToken(v1.RespondActivityTaskFailedRequest)],
  ['RespondActivityTaskCanceled', byToken(v1.RespondActivityTaskCanceledRequest)],
  ['RespondActivityTaskCompletedById', byId(v1.RespondActivityTaskCompletedByIdRequest)],
  ['RespondActivityTaskFailedById', byId(v1.RespondActivityTaskFailedByIdRequest)],
  ['RespondActivityTaskCanceledById', byId(v1.RespondActivityTaskCanceledByIdRequest)],
  ['StartWorkflowExecution', byId(v1.StartWorkflowExecutionRequest)],
  ['SignalWithStartWorkflowExecution', byId(v1.SignalWithStartWorkflowExecutionRequest)],
  ['ExecuteMultiOperation', updateWithStart],
  ['SignalWorkflowExecution', byExecution(v1.SignalWorkflowExecutionRequest)],
  ['UpdateWorkflowExecution', byExecution(v1.UpdateWorkflowExecutionRequest)],
  ['RequestCancelWorkflowExecution', byExecution(v1.RequestCancelWorkflowExecutionRequest)],
  ['TerminateWorkflowExecution', byExecution(v1.TerminateWorkflowExecutionRequest)],
  ['ResetWorkflowExecution', byExecution(v1.ResetWorkflowExecutionRequest)],
]);

/** Polls are read too: they say who is at the other end of a connection. */
const polls = new Map<string, Decoder<{ identity: string }>>([
  ['PollWorkflowTaskQueue', v1.PollWorkflowTaskQueueRequest],
  ['PollActivityTaskQueue', v1.PollActivityTaskQueueRequest],
]);

/** The call's name: `/temporal.api.workflowservice.v1.WorkflowService/PollActivityTaskQueue` → its last part. */
export function rpcOf(path: string | undefined): string {
  const [, service, rpc = ''] = path?.split('/') ?? [];
  return service === 'temporal.api.workflowservice.v1.WorkflowService' ? rpc : '';
}

/** Reads a request that is a boundary; undefined for the others. Throws when it cannot be decoded. */
export function readBoundary(rpc: string, message: Uint8Array): CallFacts | undefined {
  return boundaries.get(rpc)?.(message);
}

/** Who polls; undefined when this is no poll. */
export function readPoller(rpc: string, message: Uint8Array): string | undefined {
  return polls.get(rpc)?.decode(message).identity;
}
