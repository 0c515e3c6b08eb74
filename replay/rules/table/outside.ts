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
      says: '',
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
      says: '',
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
      says: '',
      past: { outcome: 'refused by the bundler', says: '' },
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
      says: '',
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
      says: '',
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
      says: '',
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
      says: '',
    },
    why: 'Temporal takes an error that is no failure of the business for a bug, and tries the workflow task again until it is mended: nothing is lost, nobody is told. In the queue it uses up the step’s budget and ends in front of an operator. On both sides a no of the business has a type of its own.',
  },
];
