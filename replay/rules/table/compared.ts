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
          from: '      startToCloseTimeout: policy.attemptTimeoutMs,\n',
          to: '      startToCloseTimeout: 2 * policy.attemptTimeoutMs,\n',
        },
      ],
      outcome: 'passes replay, but',
      says: '',
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
    why: 'A call that is under way keeps the limit it was made with on both sides; the next one has the new one.',
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
      says: '',
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
      says: '',
    },
    why: '',
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
      says: '',
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
    why: 'The worst of the blind spots: a run in flight gives each line the price of the line that had its place. An answer in the queue carries its line’s id.',
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
      says: '',
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
      says: '',
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
      says: '',
    },
    why: 'An activity’s attempts share the input that is in the history, so a key drawn in the workflow is the same for all of them, until a reset draws another. A step draws anew with every attempt: that it doesn’t is what the ledger asks of it.',
  },
];
