import type { Rule } from '../rule.ts';
import {
  CHAIN_ASKS,
  CHAIN_STEPS,
  QUEUE_BEFORE,
  QUEUE_IMPORTS,
  QUEUE_SAYS,
  QUEUE_STEP,
  WORKFLOW_IMPORTS,
  WORKFLOW_SAYS,
  WORKFLOW_STEPS,
} from './places.ts';

const QUEUE_SAYS_ALSO = (text: string) =>
  QUEUE_SAYS.replace('score ${score}', `score \${score}${text}`);
const WORKFLOW_SAYS_ALSO = (text: string) =>
  WORKFLOW_SAYS.replace('score ${score}', `score \${score}${text}`);

/** Edits that reach for what is outside of a run: time, chance, the process, the net. */
export const outside: readonly Rule[] = [
  {
    name: 'use Date',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_SAYS,
          to: WORKFLOW_SAYS_ALSO(' at ${new Date().toISOString()}'),
        },
      ],
      outcome: 'free',
      says: '',
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: QUEUE_SAYS,
          to: QUEUE_SAYS_ALSO(' at ${new Date().toISOString()}'),
        },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'The sandbox’s clock is the time of the workflow task, the same in every replay. In a step it is the clock of that machine, another one in the next attempt: what is compared with other times wants the database’s (`now` of its context).',
  },
  {
    name: 'use Math.random',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_SAYS,
          to: WORKFLOW_SAYS_ALSO(', drawn ${Math.random()}'),
        },
      ],
      outcome: 'free',
      says: '',
    },
    queue: {
      edits: [
        { file: QUEUE_STEP, from: QUEUE_SAYS, to: QUEUE_SAYS_ALSO(', drawn ${Math.random()}') },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'Seeded from the history in the sandbox: the same draw in every replay. In a step another one with every attempt, which is fine as long as no key is made of it.',
  },
  {
    name: 'use crypto.randomUUID',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_SAYS,
          to: WORKFLOW_SAYS_ALSO(', ${crypto.randomUUID()}'),
        },
      ],
      outcome: 'refused by the sandbox',
      says: 'throws: crypto is not defined',
    },
    queue: {
      edits: [
        { file: QUEUE_STEP, from: QUEUE_SAYS, to: QUEUE_SAYS_ALSO(', ${crypto.randomUUID()}') },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'The sandbox has no crypto. `uuid4` of the SDK is the way, below.',
  },
  {
    name: 'use uuid4 of the SDK',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_IMPORTS,
          to: "import { CancellationScope, sleep, uuid4 } from '@temporalio/workflow';\n",
        },
        { file: WORKFLOW_STEPS, from: WORKFLOW_SAYS, to: WORKFLOW_SAYS_ALSO(', ${uuid4()}') },
      ],
      outcome: 'free',
      says: '',
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: QUEUE_IMPORTS,
          to: `import { randomUUID } from 'node:crypto';\n${QUEUE_IMPORTS}`,
        },
        { file: QUEUE_STEP, from: QUEUE_SAYS, to: QUEUE_SAYS_ALSO(', ${randomUUID()}') },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'Drawn from the same seed as Math.random.',
  },
  {
    name: 'use fetch',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_SAYS,
          to: `    const rate = await (await fetch('data:,1.08')).text();\n${WORKFLOW_SAYS_ALSO(', rate ${rate}')}`,
        },
      ],
      outcome: 'refused by the sandbox',
      says: 'throws: fetch is not defined',
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: QUEUE_BEFORE,
          to: `${QUEUE_BEFORE}  const rate = await (await fetch('data:,1.08')).text();\n`,
        },
        { file: QUEUE_STEP, from: QUEUE_SAYS, to: QUEUE_SAYS_ALSO(', rate ${rate}') },
      ],
      outcome: 'free',
      says: '',
    },
    chain: {
      edits: [
        {
          file: CHAIN_STEPS,
          from: CHAIN_ASKS,
          to: `      await (await fetch('data:,1.08')).text();\n${CHAIN_ASKS}`,
        },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'Whatever is asked of the world is an activity there. A step may ask what it likes; what has an effect goes through `perform`, or nobody knows of it after a crash.',
  },
  {
    name: 'use a Node built-in',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_IMPORTS,
          to: `import { createHash } from 'node:crypto';\n${WORKFLOW_IMPORTS}`,
        },
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_SAYS,
          to: `    const mark = createHash('sha256').update(run.id.buyerId).digest('hex');\n${WORKFLOW_SAYS_ALSO(', ${mark}')}`,
        },
      ],
      outcome: 'refused by lint',
      says: 'q2t/import-direction: workflows/ may not import node:crypto.',
      past: {
        outcome: 'refused by the bundler',
        says: 'Reading from "node:crypto" is not handled by plugins (Unhandled scheme).',
      },
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: QUEUE_IMPORTS,
          to: `import { createHash } from 'node:crypto';\n${QUEUE_IMPORTS}`,
        },
        {
          file: QUEUE_STEP,
          from: QUEUE_SAYS,
          to: `  const mark = createHash('sha256').update(run.id).digest('hex');\n${QUEUE_SAYS_ALSO(', ${mark}')}`,
        },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'Even one that would give the same answer every time: the sandbox has none of them.',
  },
  {
    name: 'read process.env',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_SAYS,
          to: WORKFLOW_SAYS_ALSO(', asked from ${process.env.HOME}'),
        },
      ],
      outcome: 'refused by the sandbox',
      says: 'throws: process is not defined',
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: QUEUE_SAYS,
          to: QUEUE_SAYS_ALSO(', asked from ${process.env.HOME}'),
        },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'A setting that may differ tomorrow is an input of the run (`policy`), on both sides: in a step nothing stops you, and half of a run may go by the old value.',
  },
  {
    name: 'keep state in the module',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: 'export const credit = (run: Run) =>\n',
          to: 'let enquiries = 0;\n\nexport const credit = (run: Run) =>\n',
        },
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_SAYS,
          to: WORKFLOW_SAYS_ALSO(', number ${++enquiries}'),
        },
      ],
      outcome: 'refused by lint',
      says: 'workflow/no-module-state: Module-level mutable state: keep it in the workflow function, or make it a constant (`as const`, Object.freeze).',
      past: { outcome: 'free', says: '' },
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: QUEUE_IMPORTS,
          to: `${QUEUE_IMPORTS}\nlet enquiries = 0;\n`,
        },
        { file: QUEUE_STEP, from: QUEUE_SAYS, to: QUEUE_SAYS_ALSO(', number ${++enquiries}') },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'Replay rebuilds it for each run alone, so it counts nothing; `continueAsNew` would lose it. In a step it is a variable of this process: other workers have their own, and a restart forgets it.',
  },
  {
    name: 'do the work without the engine',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: "import { activitiesOf, callOf, checksOf } from './activities.ts';\n",
          to: "import { validate as faultsOf } from '../activities/validate.ts';\nimport { activitiesOf, callOf } from './activities.ts';\n",
        },
        {
          file: WORKFLOW_STEPS,
          from: '    const faults = await checksOf().validate(run.input);\n',
          to: '    const faults = await faultsOf(run.input);\n',
        },
      ],
      outcome: 'refused by lint',
      says: 'q2t/import-direction: workflows/ may import ../activities/validate.ts as types only (import type): by value it would be bundled with its side effects.',
      past: {
        outcome: 'patch needed',
        says: 'at event 9 of plain the history has run local activity "validate"; the code does not ask for it',
      },
    },
    queue: {
      edits: [
        {
          file: 'queue/steps/place.ts',
          from: 'export const place: StepCode = async ({ id, run, input, partners, perform }) => {\n',
          to: 'export const place: StepCode = async ({ id, run, input, partners }) => {\n',
        },
        {
          file: 'queue/steps/place.ts',
          from: `  const performed = await perform({
    effectKey: supplierReference,
    step: 'place',
    partner: 'supplier',
    ask: async (call) => {
      const placed = await partners.supplier.find({ supplierId, supplierReference }, call);
      const open = placed.find(({ cancelled }) => !cancelled);
      return open && { supplierOrderId: open.supplierOrderId };
    },
    act: (call) => {
      const reference = businessKey(id);
      return partners.supplier.place({ supplierId, reference, supplierReference, lines }, call);
    },
  });
  return { kind: 'done', detail: performed.outcome.supplierOrderId, performed };
`,
          to: `  const reference = businessKey(id);
  const placed = await partners.supplier.place(
    { supplierId, reference, supplierReference, lines },
    { timeoutMs: input.policy.partnerTimeoutMs },
  );
  return { kind: 'done', detail: placed.supplierOrderId };
`,
        },
      ],
      outcome: 'breaks',
      says: 'placed twice',
    },
    why: 'Code of an activity that needs nothing of Node is bundled without a word: only lint sees it. Past `perform` a step may call whom it likes as well, and what it did is written nowhere.',
  },
  {
    name: 'throw an Error',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_SAYS,
          to: `    if (score < 1_001) throw new Error('not like this');\n${WORKFLOW_SAYS}`,
        },
      ],
      outcome: 'stalls',
      says: 'throws: not like this',
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: QUEUE_SAYS,
          to: `  if (score < 1_001) throw new Error('not like this');\n${QUEUE_SAYS}`,
        },
      ],
      outcome: 'breaks',
      says: 'stuck: not like this (unknown)',
    },
    why: 'Temporal takes an error that is no failure of the business for a bug, and tries the workflow task again until it is mended: nothing is lost, nobody is told. In the queue it uses up the step’s budget and ends in front of an operator. On both sides a no of the business has a type of its own.',
  },
];
