import type { Rule } from '../rule.ts';
import {
  QUEUE_IMPORTS,
  QUEUE_SAYS,
  QUEUE_STEP,
  WORKFLOW_IMPORTS,
  WORKFLOW_SAYS,
  WORKFLOW_STEPS,
} from './places.ts';

/** Edits that change nothing of what is asked for. */
export const unseen: readonly Rule[] = [
  {
    name: 'rename a local',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: `    const verdict = creditVerdict(score, run.input.policy);
    if (verdict.kind === 'refused') throw new StepFailure('refused', 'credit', verdict.reason);
`,
          to: `    const answer = creditVerdict(score, run.input.policy);
    if (answer.kind === 'refused') throw new StepFailure('refused', 'credit', answer.reason);
`,
        },
      ],
      outcome: 'free',
      says: '',
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: `  const verdict = creditVerdict(score, input.policy);
  if (verdict.kind === 'refused') {
    return { kind: 'end', outcome: 'refused', reason: verdict.reason, performed };
`,
          to: `  const answer = creditVerdict(score, input.policy);
  if (answer.kind === 'refused') {
    return { kind: 'end', outcome: 'refused', reason: answer.reason, performed };
`,
        },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'Neither side keeps names of variables: a history has what was asked for, a row has named state.',
  },
  {
    name: 'add a log line',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_IMPORTS,
          to: "import { CancellationScope, log, sleep } from '@temporalio/workflow';\n",
        },
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_SAYS,
          to: `    log.info('asked the bureau', { score });\n${WORKFLOW_SAYS}`,
        },
      ],
      outcome: 'free',
      says: '',
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: QUEUE_IMPORTS,
          to: `import { pino } from 'pino';\n${QUEUE_IMPORTS}`,
        },
        {
          file: QUEUE_STEP,
          from: QUEUE_SAYS,
          to: `  pino().info({ score }, 'asked the bureau');\n${QUEUE_SAYS}`,
        },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'The SDK’s logger is silent while a run is replayed. A step logs again with every attempt.',
  },
  {
    name: 'use console.log',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: WORKFLOW_SAYS,
          to: `    console.log('asked the bureau', score);\n${WORKFLOW_SAYS}`,
        },
      ],
      outcome: 'refused by lint',
      says: 'no-console: Unexpected console statement.',
      past: { outcome: 'free', says: '' },
    },
    queue: {
      edits: [
        {
          file: QUEUE_STEP,
          from: QUEUE_SAYS,
          to: `  console.log('asked the bureau', score);\n${QUEUE_SAYS}`,
        },
      ],
      outcome: 'refused by lint',
      says: 'no-console: Unexpected console statement.',
      past: { outcome: 'free', says: '' },
    },
    why: 'A rule of this house and not of an engine: logs are lines of JSON. The sandbox’s console is silent during replay too.',
  },
  {
    name: 'go through a Map',
    temporal: {
      edits: [
        {
          file: 'workflows/price.ts',
          from: '  await eachOf(lines, ',
          to: '  const byLine = new Map(lines.map((line) => [line.lineId, line]));\n  await eachOf([...byLine.values()], ',
        },
      ],
      outcome: 'free',
      says: '',
    },
    queue: {
      edits: [
        {
          file: 'queue/steps/price-here.ts',
          from: '    const quotes = lines.map(async ',
          to: '    const byLine = new Map(lines.map((line) => [line.lineId, line]));\n    const quotes = [...byLine.values()].map(async ',
        },
      ],
      outcome: 'free',
      says: '',
    },
    why: 'JavaScript keeps the order in which a Map was filled, and replay fills it in the same order. (In Go it would not be so.)',
  },
  {
    name: 'catch every error',
    temporal: {
      edits: [
        {
          file: WORKFLOW_STEPS,
          from: '      return partnersOf(run).payments.charge.executeWithOptions({ summary }, [input]);\n',
          to: `      const asked = partnersOf(run).payments.charge.executeWithOptions({ summary }, [input]);
      return asked.catch(() => 'not charged');
`,
        },
      ],
      outcome: 'patch needed',
      says: 'at event 54 of card-declined the history schedules activity "release"; the code schedules activity "place"',
    },
    queue: {
      edits: [
        {
          file: 'queue/steps/charge.ts',
          from: `  const performed = await perform({
    effectKey: key,
    step: 'charge',
`,
          to: `  const asked = perform({
    effectKey: key,
    step: 'charge',
`,
        },
        {
          file: 'queue/steps/charge.ts',
          from: "  return { kind: 'done', detail: performed.outcome.chargeId, performed };\n",
          to: `  const performed = await asked.catch(() => undefined);
  if (!performed) return { kind: 'done', detail: 'not charged' };
  return { kind: 'done', detail: performed.outcome.chargeId, performed };
`,
        },
      ],
      outcome: 'breaks',
      says: 'the ledger never learns what came of charge',
    },
    why: 'What a call throws is how the engine speaks to the code: a card declined, a cancel, and in a step also an answer that was lost, which only the ledger can clear up. Catch what you know.',
  },
];
