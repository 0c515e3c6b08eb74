import type { Rule } from '../rule.ts';
import {
  CHAIN_STEPS,
  QUEUE_ASKS,
  QUEUE_BEFORE,
  QUEUE_IMPORTS,
  QUEUE_STEP,
  WORKFLOW_ASKS,
  WORKFLOW_STEPS,
} from './places.ts';

const ORDER = 'workflows/purchase-order.ts';
const IN_ORDER = '  await credit(run);\n  if (screens) {\n    await screen(run);\n';
const SEQUENCE = "    'price',\n    'credit',\n    'screen',\n";

/** Edits of what is asked for, and in which order. */
export const askedFor: readonly Rule[] = [
  {
    name: 'reorder two activities',
    temporal: {
      edits: [
        {
          file: ORDER,
          from: IN_ORDER,
          to: '  if (screens) await screen(run);\n  await credit(run);\n  if (screens) {\n',
        },
      ],
      outcome: 'patch needed',
      says: 'at event 20 of plain the history schedules activity "credit"; the code schedules activity "screen"',
    },
    queue: {
      edits: [
        {
          file: 'core/steps.ts',
          from: SEQUENCE,
          to: "    'price',\n    'screen',\n    'credit',\n",
        },
      ],
      outcome: 'version needed',
      says: 'never screened',
    },
    chain: {
      edits: [
        {
          file: CHAIN_STEPS,
          from: "      return to('credit', { payable: totals(order, prices).payable });\n",
          to: "      return to('screen', { payable: totals(order, prices).payable });\n",
        },
        {
          file: CHAIN_STEPS,
          from: "      return to('screen');\n",
          to: "      return to('reserve');\n",
        },
        {
          file: CHAIN_STEPS,
          from: "verdict.reason);\n      return to('reserve');\n    }\n    case 'reserve':",
          to: "verdict.reason);\n      return to('credit');\n    }\n    case 'reserve':",
        },
      ],
      outcome: 'version needed',
      says: 'never screened',
    },
    why: 'A position in a program means something in that program only. Temporal notices and stops; a cursor goes on from where it stands and leaves out what now comes before it.',
  },
  {
    name: 'reorder them, the right way',
    temporal: {
      edits: [
        {
          file: ORDER,
          from: "  const screens = run.position.version === '2';\n",
          to: "  const screens = run.position.version === '2';\n  const screensFirst = screens && patched('screen-first');\n",
        },
        {
          file: ORDER,
          from: IN_ORDER,
          to: '  if (screensFirst) await screen(run);\n  await credit(run);\n  if (screens) {\n    if (!screensFirst) await screen(run);\n',
        },
      ],
      outcome: 'free',
      says: '',
    },
    queue: {
      versions: { inFlight: '2', fresh: '3' },
      edits: [
        {
          file: 'core/steps.ts',
          from: "} as const;\n\nexport const CURRENT_VERSION = '2';\n",
          to: `  3: [
    'validate',
    'price',
    'screen',
    'credit',
    'reserve',
    'approve',
    'charge',
    'place',
    'invoice',
    'close',
  ],
} as const;

export const CURRENT_VERSION = '3';
`,
        },
        {
          file: 'core/steps.ts',
          from: "  return version === '1' ? SEQUENCES[1] : STEPS;\n",
          to: "  if (version === '2') return SEQUENCES[2];\n  return version === '1' ? SEQUENCES[1] : STEPS;\n",
        },
        {
          file: 'queue/steps/pipelines.ts',
          from: "  ['2', { steps: version2, undos }],\n",
          to: "  ['2', { steps: version2, undos }],\n  ['3', { steps: version2, undos }],\n",
        },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'The same remedy twice: the run remembers which order it began with. On Temporal inside the code, in the queue beside it.',
  },
  {
    name: 'run two in parallel',
    temporal: {
      edits: [
        {
          file: ORDER,
          from: IN_ORDER,
          to: '  await Promise.all([credit(run), screens ? screen(run) : undefined]);\n  if (screens) {\n',
        },
      ],
      outcome: 'patch needed',
      says: 'at event 28 of refused-by-the-bureau the history ends the run; the code schedules activity "screen"',
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: '  const performed = await perform({\n',
          to: '  const enquired = perform({\n',
        },
        {
          file: QUEUE_STEP,
          from: `${QUEUE_ASKS}  });\n`,
          to: `${QUEUE_ASKS}  });
  const screenKey = effectKey(id, { revision: run.revision, step: 'screen' });
  const screened = perform({
    effectKey: screenKey,
    step: 'screen',
    partner: 'bureau',
    settles: false,
    act: (call) => {
      const { name } = input.order.buyer;
      return partners.bureau.screen({ key: screenKey, reference, buyerId: id.buyerId, name }, call);
    },
  });
  const [performed] = await Promise.all([enquired, screened]);
`,
        },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'Replay compares in which order things are asked for and not when. A run that came through both asks in the same order and replays; one that was refused by the first now asks for the second as well. One recorded path is not enough to see it. In the step the ledger puts it right, at the price of a request: the result carries one outcome, so the screening is asked for once more in its own step, and the partner’s key makes it one. At a partner without keys it would have to be looked up: one effect a step.',
  },
  {
    name: 'rename an activity',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_ASKS,
          to: WORKFLOW_ASKS.replace('bureau.credit', 'bureau.enquiry'),
        },
      ],
      activities: [
        {
          file: 'activities/index.ts',
          from: '    bureau: { ...creditActivities(bureau), ',
          to: '    bureau: { ...creditActivities(bureau), enquiry: creditActivities(bureau).credit, ',
        },
      ],
      outcome: 'patch needed',
      says: 'at event 20 of plain the history schedules activity "credit"; the code schedules activity "enquiry"',
    },
    queue: {
      edits: [
        { file: 'core/steps.ts', from: SEQUENCE, to: SEQUENCE.replace('credit', 'enquiry') },
        {
          file: 'queue/steps/pipelines.ts',
          from: ' = { ...version1, screen };\n',
          to: ` = {
  validate,
  price,
  enquiry: credit,
  screen,
  reserve,
  approve,
  charge,
  place,
  invoice,
  close,
};
`,
        },
      ],
      outcome: 'version needed',
      says: 'stuck: version 2 has no step credit (unknown)',
    },
    why: 'Names that a run may stand on are data: an activity’s in a history, a step’s in a row.',
  },
  {
    name: 'add a timer',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_ASKS,
          to: `    await sleep('1 second');\n${WORKFLOW_ASKS}`,
        },
      ],
      outcome: 'patch needed',
      says: 'at event 20 of plain the history schedules activity "credit"; the code starts a timer',
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: QUEUE_IMPORTS,
          to: `import { setTimeout as sleep } from 'node:timers/promises';\n${QUEUE_IMPORTS}`,
        },
        { file: QUEUE_STEP, from: QUEUE_BEFORE, to: `${QUEUE_BEFORE}  await sleep(1_000);\n` },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'A wait is an event in the engine’s history. A step may sleep, and holds a lease and a pair of hands for as long: what is longer than a lease wants a row (`queue/timers`), and the step looks again when it is due.',
  },
  {
    name: 'use setTimeout',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_ASKS,
          to: `    await new Promise((resolve) => setTimeout(resolve, 1_000));\n${WORKFLOW_ASKS}`,
        },
      ],
      outcome: 'patch needed',
      says: 'at event 20 of plain the history schedules activity "credit"; the code starts a timer',
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: QUEUE_BEFORE,
          to: `${QUEUE_BEFORE}  await new Promise((resolve) => setTimeout(resolve, 1_000));\n`,
        },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'In a workflow it is the engine’s timer under another name.',
  },
  {
    name: 'race a call with a timer',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_ASKS,
          to: `    const asked = partnersOf(run).bureau.credit({ ...callOf(run, again), amount });
    const score = await Promise.race([asked, sleep('1 minute').then(() => 500)]);
`,
        },
      ],
      outcome: 'patch needed',
      says: 'at event 26 of plain the history sets OrderStatus=running, OrderStep=screen; the code starts a timer',
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: QUEUE_IMPORTS,
          to: `import { setTimeout as sleep } from 'node:timers/promises';\n${QUEUE_IMPORTS}`,
        },
        {
          file: QUEUE_STEP,
          from: QUEUE_ASKS,
          to: `    act: (call) =>
      Promise.race([
        partners.bureau.enquire({ key, reference, buyerId: id.buyerId, amount }, call),
        sleep(60_000, { enquiryId: '', score: 500 }, { ref: false }),
      ]),
`,
        },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'Promise.race is no problem: who was first is in the history, and is first again in every replay. The timer is one.',
  },
];
