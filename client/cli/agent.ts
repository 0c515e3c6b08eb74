import type { Command } from 'commander';
import { Option } from 'commander';
import type { AgentFilter } from '../../core/agent/contract.ts';
import { defaultAgentPolicy } from '../../core/agent/policy.ts';
import { NANO_EUR_PER_EUR } from '../../core/agent/prices.ts';
import { AGENT_STEPS, STATUSES } from '../../core/steps.ts';
import type { AnswerOptions } from '../commands/agent/answer.ts';
import type { AskOptions } from '../commands/agent/ask.ts';
import type { WhereOptions } from '../commands/agent/where.ts';
import { euro, gateVersion, limit, name, sentence, turns, words } from '../inputs.ts';
import { addRequestDeadLetters } from './dead-letters.ts';
import type { Host, Shared } from './shared.ts';
import { addCommand, BUYER, REQUEST, runCommand } from './shared.ts';

/** The buying agent: ask it, see where it is, answer it. */
export function addAgentCommands(program: Command, host: Host): void {
  const group = program
    .command('agent')
    .description('The buying agent: a request in words becomes a purchase order.')
    .addHelpText(
      'after',
      `
Examples:
  $ q2t agent ask "3 office chairs under 200 euro each" --follow
  $ q2t agent where REQ-7
  $ q2t agent answer REQ-7 "dark blue" --by Ann
  $ q2t agent answer REQ-7 --approve --by Ann
  $ q2t agent transcript REQ-7
  $ q2t where REQ-7-PO                      the order that came of it`,
    );
  addAsk(group, host);
  addWhere(group, host);
  addAnswer(group, host);
  addTranscript(group, host);
  addCancel(group, host);
  addList(group, host);
  addRequestDeadLetters(group, host);
  addCollect(group, host);
}

function addAsk(group: Command, host: Host): void {
  const { maxNanoEur, maxTurns } = defaultAgentPolicy;
  const budget = (maxNanoEur / NANO_EUR_PER_EUR).toFixed(2);
  addCommand(group, 'ask', 'Hand it a request in words.')
    .argument('<request>', 'what is wanted, in quotes')
    .option('--ref <reference>', 'what the request is called; default: made up and printed')
    .option('--buyer <id>', 'who buys; default: the buyer of the examples')
    .option('--buyer-name <name>', "the buyer's name; default: the id")
    .option('--email <address>', 'where invoices go; needed with --buyer')
    .option('--currency <code>', 'of the order', 'EUR')
    .addOption(
      new Option('--budget-eur <amount>', 'what its model may cost')
        .argParser(euro)
        .default(maxNanoEur, budget),
    )
    .option('--max-turns <number>', 'how often its model may answer', turns, maxTurns)
    .option('--follow', 'tell what it does until it has ended or waits for somebody')
    .addHelpText(
      'after',
      `
The same request under the same reference again is no mistake: it is answered with "already running".
The model is AGENT_MODEL at OPENAI_BASE_URL, otherwise that of the running \`npm run up\`, otherwise a
scripted one.

Examples:
  $ q2t agent ask "40 office chairs under 200 euro each, delivered in Utrecht by 12 January" --ref REQ-7
  $ q2t agent ask "3 desks, ask me first" --buyer acme --email buyer@acme.example --follow
  $ q2t agent ask "3 desks" --budget-eur 0.10 --max-turns 8 --on queue`,
    )
    .action(async (request: string, options: Shared & AskOptions) => {
      const { ask } = await import('../commands/agent/ask.ts');
      await runCommand('agent ask', options, host, (session) => ask(session, request, options));
    });
}

function addWhere(group: Command, host: Host): void {
  addCommand(group, 'where', 'Say where a request is, also while every worker is dead.')
    .argument('<reference>', REQUEST)
    .option('--history', 'also how it got there')
    .option('--follow', 'tell what it does until it has ended or waits for somebody')
    .option('--buyer <id>', BUYER)
    .action(async (reference: string, options: Shared & WhereOptions) => {
      const { where } = await import('../commands/agent/where.ts');
      await runCommand('agent where', options, host, (session) => {
        return where(session, reference, options);
      });
    });
}

function addAnswer(group: Command, host: Host): void {
  addCommand(group, 'answer', 'Answer what a request waits for.')
    .argument('<reference>', REQUEST)
    .argument('[text]', 'the answer to a question, in quotes', words)
    .requiredOption('--by <name>', 'who answers', name)
    .option('--approve', 'yes, to an approval')
    .option('--reject', 'no, to an approval')
    .option('--note <text>', 'why, beside --approve or --reject', sentence)
    .option('--gate <name>', 'the gate, unless it is the open one', name)
    .option('--gate-version <number>', 'which asking of it', gateVersion)
    .option('--buyer <id>', BUYER)
    .addHelpText(
      'after',
      `
An answer that comes early, late or second, or to the wrong gate, is a conflict (exit 4) and is kept in
the history. Exit 5: no worker could confirm it in time; repeat the command, the same answer counts once.

Examples:
  $ q2t agent answer REQ-7 "dark blue" --by Ann
  $ q2t agent answer REQ-7 --approve --by Ann --note "in this year's budget"`,
    )
    .action(
      async (reference: string, said: string | undefined, options: Shared & AnswerOptions) => {
        const { answer } = await import('../commands/agent/answer.ts');
        await runCommand('agent answer', options, host, (session) => {
          return answer(session, reference, said, options);
        });
      },
    );
}

function addTranscript(group: Command, host: Host): void {
  type Options = Shared & { full?: true; buyer?: string };
  addCommand(group, 'transcript', 'Show what the agent and its model said.')
    .argument('<reference>', REQUEST)
    .option('--full', 'all of it, also what is long')
    .option('--buyer <id>', BUYER)
    .action(async (reference: string, options: Options) => {
      const { transcript } = await import('../commands/agent/transcript.ts');
      await runCommand('agent transcript', options, host, (session) => {
        return transcript(session, reference, options);
      });
    });
}

function addCancel(group: Command, host: Host): void {
  type Options = Shared & { by: string; reason: string; buyer?: string };
  addCommand(group, 'cancel', 'Take a request back; an order that came of it is cancelled too.')
    .argument('<reference>', REQUEST)
    .requiredOption('--by <name>', 'who takes it back', name)
    .requiredOption('--reason <text>', 'why', sentence)
    .option('--buyer <id>', BUYER)
    .action(async (reference: string, options: Options) => {
      const { cancel } = await import('../commands/agent/cancel.ts');
      await runCommand('agent cancel', options, host, (session) => {
        return cancel(session, reference, options);
      });
    });
}

function addList(group: Command, host: Host): void {
  addCommand(group, 'list', 'List requests, the newest first.')
    .addOption(new Option('--status <status>', 'only these').choices(STATUSES))
    .addOption(new Option('--step <step>', 'only those at this step').choices(AGENT_STEPS))
    .option('--limit <number>', 'at most this many', limit, 100)
    .action(async ({ on, json, ...filter }: Shared & AgentFilter) => {
      const { list } = await import('../commands/agent/list.ts');
      await runCommand('agent list', { on, json }, host, (session) => list(session, filter));
    });
}

function addCollect(group: Command, host: Host): void {
  const summary = 'Take away what is in the claim-check store and no run names.';
  addCommand(group, 'collect', summary)
    .option('--force', 'also when no run has anything in the store', false)
    .addHelpText(
      'after',
      `
What a crash between the store and the checkpoint left, more than an hour ago. On the queue a worker
does it by itself. Q2T_STORE_DIR names the folder that the workers have, otherwise it is that of the
running \`npm run up\`.`,
    )
    .action(async (options: Shared & { force: boolean }) => {
      const { collect } = await import('../commands/agent/collect.ts');
      await runCommand('agent collect', options, host, (session) => collect(session, options));
    });
}
