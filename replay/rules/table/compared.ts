import type { Rule } from '../rule.ts';
import {
  CHAIN_ASKS,
  CHAIN_STEPS,
  QUEUE_ASKS,
  QUEUE_IMPORTS,
  QUEUE_STEP,
  WORKFLOW_ASKS,
  WORKFLOW_STEPS,
} from './places.ts';

const QUEUE_KEY = "  const key = effectKey(id, { revision: run.revision, step: 'credit' });\n";

/** Edits of how something is asked for, which replay does not compare. */
export const compared: readonly Rule[] = [
  {
    name: 'change a timeout',
    temporal: {
      edits: [
        {
          file: 'workflows/activities.ts',
          from: '    startToCloseTimeout: policy.attemptTimeoutMs,\n',
          to: '    startToCloseTimeout: 2 * policy.attemptTimeoutMs,\n',
        },
      ],
      outcome: 'passes replay, but',
      says: 'activity "price" has another time limit',
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: QUEUE_ASKS,
          to: `    act: (call) => {
      const patient = { ...call, timeoutMs: 2 * call.timeoutMs };
      return partners.bureau.enquire({ key, reference, buyerId: id.buyerId, amount }, patient);
    },
`,
        },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'A call that is under way keeps the limit it was made with on both sides; the next one has the new one. What guards it: the policy is part of a run’s input, so a limit that is changed there is none of an older run’s.',
  },
  {
    name: 'change an argument',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_ASKS,
          to: `    const more = { ...amount, minor: amount.minor + 1 };
    const score = await partnersOf(run).bureau.credit({ ...callOf(run, again), amount: more });
`,
        },
      ],
      outcome: 'passes replay, but',
      says: 'activity "credit" has another input',
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: QUEUE_ASKS,
          to: `    act: (call) => {
      const more = { ...amount, minor: amount.minor + 1 };
      return partners.bureau.enquire({ key, reference, buyerId: id.buyerId, amount: more }, call);
    },
`,
        },
      ],
      outcome: 'version needed',
      says: 'stuck: bureau answered 422: key acme/PO-1/r1/credit came with another request before (never)',
    },
    why: 'What is under way on Temporal keeps the input that is in its history, retries included; what comes later has the new one, and no gate says so. In a step the retry has the new argument at once: a partner that remembers keys refuses it, one that forgets them has been told two things. The key belongs to what was asked for first. What guards the workflow: effects counted at the partners (`test/parity`, the lab), and inputs in the diff of histories that are recorded anew.',
  },
  {
    name: 'two calls of the same activity in another order',
    temporal: {
      edits: [
        {
          file: 'workflows/price.ts',
          from: '  await eachOf(lines, ',
          to: '  await eachOf(lines.toReversed(), ',
        },
      ],
      outcome: 'passes replay, but',
      says: 'activity "price" has another input',
    },
    queue: {
      edits: [
        {
          file: 'queue/steps/price-here.ts',
          from: '    const quotes = lines.map(async ',
          to: '    const quotes = lines.toReversed().map(async ',
        },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'The worst of the blind spots: a run in flight gives each line the price of the line that had its place. An answer in the queue carries its line’s id. What guards the workflow: review, and a patch or an activity of another name.',
  },
  {
    name: 'a random value in an effect key',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_ASKS,
          to: `    const call = { ...callOf(run, again), revision: Math.ceil(1e9 * Math.random()) };
    const score = await partnersOf(run).bureau.credit({ ...call, amount });
`,
        },
      ],
      outcome: 'passes replay, but',
      says: 'activity "credit" has another input',
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: QUEUE_IMPORTS,
          to: `import { randomUUID } from 'node:crypto';\n${QUEUE_IMPORTS}`,
        },
        {
          file: QUEUE_STEP,
          from: QUEUE_KEY,
          to: "  const key = effectKey(id, { revision: run.revision, step: 'credit' }) + randomUUID();\n",
        },
      ],
      outcome: 'breaks',
      says: 'enquired twice; the ledger never learns what came of credit',
    },
    chain: {
      edits: [
        {
          file: CHAIN_STEPS,
          from: CHAIN_ASKS,
          to: "      const key = keyOf('credit') + crypto.randomUUID();\n      const enquiry = { key, reference, buyerId: buyer.id, amount };\n",
        },
      ],
      outcome: 'breaks',
      says: 'enquired twice',
    },
    why: 'An activity’s attempts share the input that is in the history, so a key drawn in the workflow is the same for all of them, until a reset draws another. A step draws anew with every attempt: that it doesn’t is what the ledger asks of it. What guards the workflow: keys are made in one place, of the order, its revision and the step (`core/identity.ts`).',
  },
];
