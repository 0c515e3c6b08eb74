import { z } from 'zod';
import { readData } from '../../../core/agent/data.ts';
import type { Question } from './wire.ts';

const article = z.object({ supplierId: z.string(), sku: z.string(), name: z.string() });
const quote = z.object({ supplierId: z.string(), sku: z.string(), unitPrice: z.string() });
const money = z.object({ currency: z.string(), minor: z.int() });

/** What an answer of a tool, or the program's own summary, may tell the script. */
const told = z.looseObject({
  text: z.string().optional(),
  turns: z.int().optional(),
  articles: z.array(article.extend({ description: z.string().optional() })).optional(),
  quotes: z.array(quote).optional(),
  available: money.optional(),
  answers: z.array(z.unknown()).optional(),
});

/** All that the script goes by, read from the messages alone: it remembers nothing itself. */
export interface Knowledge {
  /** What the requester asked for, in their words. */
  text: string;
  /** How often the model has answered before. */
  turns: number;
  searched: boolean;
  articles: (z.infer<typeof article> & { description?: string | undefined })[];
  quotes: z.infer<typeof quote>[];
  available: z.infer<typeof money> | undefined;
  /** How many questions people have answered. */
  answers: number;
  /** What is searched with: as it was called before, whatever the tools are called now. */
  searchTool: string;
  /** Tools whose last use failed, with the reason. */
  failed: Map<string, string>;
}

export function readKnowledge({
  messages,
  tools,
}: Pick<Question, 'messages' | 'tools'>): Knowledge {
  const isSearch = (name: string) => name === 'find_suppliers' || name.startsWith('search');
  const offered = tools.map(({ function: { name } }) => name).find(isSearch);
  const known: Knowledge = {
    text: '',
    turns: 0,
    searched: false,
    articles: [],
    quotes: [],
    available: undefined,
    answers: 0,
    searchTool: offered ?? 'find_suppliers',
    failed: new Map(),
  };
  const names = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'assistant') {
      known.turns += 1;
      for (const { id, function: called } of message.tool_calls ?? []) {
        names.set(id, called.name);
        // A model does again what it sees that it did.
        if (isSearch(called.name)) known.searchTool = called.name;
      }
    } else if (message.role === 'user') {
      learn(known, message.content);
    } else if (message.role === 'tool') {
      const name = names.get(message.tool_call_id) ?? '';
      if (learn(known, message.content)) known.failed.delete(name);
      // Nothing was shown yet, so this was no supplier's answer.
      else if (name !== 'get_quote' || known.articles.length > 0) {
        known.failed.set(name, message.content);
      }
    }
  }
  return known;
}

function learn(known: Knowledge, content: string): boolean {
  const data = readData(content);
  const read = told.safeParse(data?.value);
  if (!read.success) return false;
  const { text, turns = 0, articles = [], quotes = [], available, answers = [] } = read.data;
  if (data?.source === 'requester' && text !== undefined) known.text = text;
  known.searched ||= data?.source === 'catalogue';
  known.turns += turns;
  known.articles.push(...articles);
  known.quotes.push(...quotes);
  known.available = available ?? known.available;
  known.answers += answers.length;
  return true;
}
