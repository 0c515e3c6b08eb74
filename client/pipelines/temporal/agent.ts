import { Client, Connection } from '@temporalio/client';
import { asGateAnswer } from '../../../core/agent/answers.ts';
import type {
  AgentAnswer,
  AgentPipeline,
  AgentPosition,
  TranscriptResult,
} from '../../../core/agent/contract.ts';
import { checkAnswer } from '../../../core/answer-shapes.ts';
import type { DecideResult } from '../../../core/contract.ts';
import type { OrderId } from '../../../core/identity.ts';
import { answerUpdate } from '../../../workflows/definitions.ts';
import { ORDER_TASK_QUEUE } from '../../../workflows/search-attributes.ts';
import { connect } from '../temporal.ts';
import type { TemporalOptions } from '../temporal.ts';
import { ask } from './agent/ask.ts';
import { memoTranscript, places } from './agent/places.ts';
import { cancel } from './cancel.ts';
import { deadLettersOf } from './dead-letters.ts';
import { answerGate } from './decide.ts';
import { describeWorkflow } from './description.ts';
import { AGENTS } from './kinds.ts';
import { list } from './list.ts';
import { whereIs } from './where.ts';

/** The buying agent on Temporal. Connects and throws as `openTemporal` does, of which it takes the options. */
export async function openTemporalAgent(options: TemporalOptions): Promise<AgentPipeline> {
  const { namespace = 'default', taskQueue = ORDER_TASK_QUEUE, confirmWithinMs = 5_000 } = options;
  const given = options.connection instanceof Connection ? options.connection : undefined;
  const connection = given ?? (await connect(options));
  const client = new Client({ connection, namespace });
  const workflowIdOf = (id: OrderId) => AGENTS.workflowIdOf(id);
  return {
    implementation: 'temporal',
    ask: (asked) => ask(client, taskQueue, asked),
    where: (id) => whereIs<AgentPosition>(client, workflowIdOf(id)),
    answer: (id, answer) => answerQuestion(client, confirmWithinMs, id, answer),
    cancel: (id, by, reason) => cancel(client, workflowIdOf(id), by, reason),
    transcript: (id) => transcript(client, id),
    list: ({ requestRef: ref, ...filter } = {}) => list(client, AGENTS, { ...filter, ref }),
    deadLetters: deadLettersOf(client, confirmWithinMs, AGENTS),
    places: () => places(client),
    // A connection that was given belongs to the giver.
    close: async () => {
      if (!given) await connection.close();
    },
  };
}

async function answerQuestion(
  client: Client,
  withinMs: number,
  id: OrderId,
  argument: AgentAnswer,
): Promise<DecideResult> {
  // The run's own validator says the same, and needs a worker for it.
  checkAnswer(argument);
  const said = { answer: asGateAnswer(argument), argument };
  return answerGate(client, withinMs, AGENTS.workflowIdOf(id), answerUpdate, said);
}

async function transcript(client: Client, id: OrderId): Promise<TranscriptResult> {
  const run = await describeWorkflow(client, AGENTS.workflowIdOf(id));
  return run ? { kind: 'position', position: memoTranscript(run) } : { kind: 'not-found' };
}
