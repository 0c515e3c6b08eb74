import type { History } from '@temporalio/common/lib/proto-utils.js';

export type Event = NonNullable<History['events']>[number];

/** What one event of a history says that the code asked for then, as the end of a sentence that begins with "the history". */
export function eventInWords(event: Event): string {
  const {
    activityTaskScheduledEventAttributes: activity,
    timerStartedEventAttributes: timer,
    startChildWorkflowExecutionInitiatedEventAttributes: child,
    markerRecordedEventAttributes: marker,
    upsertWorkflowSearchAttributesEventAttributes: attributes,
    workflowExecutionUpdateAcceptedEventAttributes: update,
  } = event;
  if (activity) return `schedules activity "${activity.activityType?.name}"`;
  if (timer) return `starts a timer of ${secondsOf(timer.startToFireTimeout)} s`;
  if (child) return `starts child "${child.workflowId}" of type "${child.workflowType?.name}"`;
  if (marker) return markerInWords(marker.markerName ?? '', marker.details ?? {});
  if (attributes) return `sets ${valuesIn(attributes.searchAttributes?.indexedFields ?? {})}`;
  if (update) return `takes the update "${update.acceptedRequest?.input?.name}"`;
  if (event.workflowTaskCompletedEventAttributes) return 'completes a workflow task';
  if (event.workflowPropertiesModifiedEventAttributes) return 'changes its memo';
  if (event.timerCanceledEventAttributes) return 'cancels a timer';
  if (event.activityTaskCancelRequestedEventAttributes) return 'cancels an activity';
  if (event.workflowExecutionUpdateCompletedEventAttributes) return 'answers an update';
  if (event.workflowExecutionCompletedEventAttributes) return 'ends the run';
  if (event.workflowExecutionFailedEventAttributes) return 'fails the run';
  if (event.workflowExecutionCanceledEventAttributes) return 'ends the run as cancelled';
  return `has ${nameOf(event)}`;
}

type Payload = { data?: Uint8Array | null };

function markerInWords(name: string, details: Record<string, { payloads?: Payload[] | null }>) {
  // A local activity's marker has its result beside what says which it was.
  const [payload] = (details['data'] ?? Object.values(details)[0])?.payloads ?? [];
  const data = valueOf(payload);
  const facts = typeof data === 'object' && data !== null ? Object.entries(data) : [];
  const is = (key: string) => String(facts.find(([known]) => known === key)?.[1] ?? 'unknown');
  if (name === 'core_patch') return `has the patch "${is('id')}"`;
  if (name === 'core_local_activity') return `has run local activity "${is('activity_type')}"`;
  return `has a marker "${name}"`;
}

function valuesIn(fields: Record<string, Payload>): string {
  const set = Object.entries(fields)
    .map(([name, payload]) => [name, valueOf(payload)] as const)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${String(value)}`);
  return set.sort().join(', ') || 'no search attribute';
}

/** What a payload says, undefined when it is encrypted or no JSON: then it is none of ours. */
export function valueOf(payload: Payload | undefined): unknown {
  if (!payload?.data) return undefined;
  try {
    return JSON.parse(Buffer.from(payload.data).toString());
  } catch {
    return undefined;
  }
}

function secondsOf(duration: { seconds?: unknown; nanos?: number | null } | null | undefined) {
  return Number(duration?.seconds ?? 0) + (duration?.nanos ?? 0) / 1e9;
}

function nameOf(event: Event): string {
  const attributes = Object.keys(event).find((name) => name.endsWith('EventAttributes'));
  return `the event ${attributes?.replace(/EventAttributes$/, '') ?? 'unknown'}`;
}

/** What is said of an activity that the SDK does not name. */
export const AN_ACTIVITY = 'schedules an activity';

/** The state machines of the SDK, by the names its messages have for them, and what the code asks for with each. */
const MACHINES: Readonly<Record<string, string>> = {
  Activity: AN_ACTIVITY,
  'Local activity': 'runs a local activity',
  LocalActivity: 'runs a local activity',
  Timer: 'starts a timer',
  'Child workflow': 'starts a child',
  Patch: 'asks for a patch',
  'Complete workflow': 'ends the run',
  'Fail workflow': 'fails the run',
  'Cancel workflow': 'ends the run as cancelled',
  'Continue as new workflow': 'continues as new',
  'Signal external WF': 'signals another workflow',
  'Cancel external WF': 'cancels another workflow',
  'Nexus operation': 'starts a Nexus operation',
  Update: 'answers an update',
  ModifyWorkflowProperties: 'changes its memo',
  UpsertWorkflowSearchAttributes: 'sets search attributes',
};

/**
 * What the SDK's message says that the code did instead, as the end of a sentence that begins with "the
 * code". `trace`: where a stack trace is, if not in the message.
 */
export function deviationInWords(error: string, trace = error): string {
  const message = /message: "((?:[^"\\]|\\.)*)"/.exec(error)?.[1]?.replace(/\\(.)/g, '$1') ?? error;
  if (message.includes('Script execution timed out')) return `computes for too long: ${message}`;
  if (!message.includes('TMPRL1100')) return `throws: ${message}${placeOf(trace)}`;
  if (message.includes('No command scheduled')) return 'asks for nothing';
  if (message.includes('Missing associated machine')) return 'does not ask for it';
  const other =
    /(Activity|Child workflow|Local activity) (type|id) of .*? does not match .* '(.*)'$/i.exec(
      message,
    );
  if (other) {
    const [, what = '', which = '', name = ''] = other;
    const verb = what.toLowerCase() === 'activity' ? 'schedules activity' : MACHINES[what];
    return which === 'type' ? `${verb} "${name}"` : `gives it the id "${name}"`;
  }
  const machine = /: (.*?) ?[mM]achine does not handle/.exec(message)?.[1];
  if (machine !== undefined && MACHINES[machine] !== undefined) return MACHINES[machine];
  return `does not fit: ${message}`;
}

/**
 * The event that the SDK's message is about: by its id, otherwise by the activity or child that it names
 * (the first of that name: whatever comes before it is followed). Undefined when it names none.
 */
export function eventNamedIn(error: string, events: readonly Event[]): Event | undefined {
  const id = /HistoryEvent\(id: (\d+),/.exec(error)?.[1];
  if (id !== undefined) return events.find(({ eventId }) => String(eventId) === id);
  const name = /(?:type|id) of scheduled event '(.*?)' does not match/.exec(error)?.[1];
  if (name === undefined) return undefined;
  return events.find((event) => {
    const {
      activityTaskScheduledEventAttributes: activity,
      startChildWorkflowExecutionInitiatedEventAttributes: child,
    } = event;
    const names = [activity?.activityId, activity?.activityType?.name];
    return [...names, child?.workflowId, child?.workflowType?.name].includes(name);
  });
}

/** Where in our own source, as far as the stack trace tells. */
function placeOf(trace: string): string {
  const place = /\((?:[^()\s]*\/)?((?:workflows|core)\/[^()\s]+?:\d+)(?::\d+)?\)/.exec(trace)?.[1];
  return place === undefined ? '' : ` (${place})`;
}
