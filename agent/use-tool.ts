import { z } from 'zod';
import { asData } from '../core/agent/data.ts';
import type { Learnt, ToolResult } from '../core/agent/events.ts';
import type { AgentInput } from '../core/agent/input.ts';
import type { ToolCall } from '../core/agent/next.ts';
import type { AgentPolicy } from '../core/agent/policy.ts';
import { sizeOf } from '../core/agent/size.ts';
import type { KnownArticle } from '../core/agent/state.ts';
import type { ClaimCheckStore } from '../core/agent/store.ts';
import type { Use } from '../core/agent/uses.ts';
import { StepFailure } from '../core/failures.ts';
import { toMinor } from '../core/order/money.ts';
import { plain } from '../core/order/quote.ts';
import { decimal, identifier, text } from '../core/order/text.ts';
import type { Article, Call, Finance, Supplier } from '../partners/contract.ts';

export interface ToolDependencies {
  supplier: Pick<Supplier, 'search' | 'quote'>;
  finance: Finance;
  store: ClaimCheckStore;
}

/** What a tool needs to know of how the run was asked. */
export interface ToolInput extends Pick<AgentInput, 'request'> {
  limits: Pick<AgentPolicy, 'maxResultChars'>;
}

/** What a tool says to the model, and what the program keeps of it. */
interface Said {
  shown: string;
  learnt: Learnt;
}

const MAX_ARTICLES = 10;

/** What may become a line of an order. An article that may not is none for us, whoever sells it. */
const orderable = z.object({
  supplierId: identifier(),
  sku: identifier(100),
  name: text(300),
  unit: identifier(20),
});

/**
 * Uses a tool that only asks. A partner that says no has answered, and the model is told; every other
 * failure is thrown as it is (StepFailure, or the caller's own abort), so that it is tried again.
 */
export async function useTool(
  tools: ToolDependencies,
  { request, limits }: ToolInput,
  { callId, use, article }: ToolCall,
  call: Call,
): Promise<ToolResult> {
  try {
    const { shown, learnt } = await (() => {
      switch (use.does) {
        case 'search':
          return search(tools, use, limits.maxResultChars, call);
        case 'quote':
          return quote(tools, request.currency, article, call);
        case 'budget':
          return budget(tools, request, use, call);
        default:
          return use satisfies never;
      }
    })();
    const ref = await tools.store.put(new TextEncoder().encode(shown));
    const size = sizeOf({ role: 'tool', callId, content: shown });
    return { callId, ok: true, ref, size, learnt };
  } catch (error) {
    if (!(error instanceof StepFailure) || error.failureClass !== 'refused') throw error;
    return { callId, ok: false, error: error.message };
  }
}

async function search(
  { supplier }: ToolDependencies,
  { query }: Use<'search'>,
  maxChars: number,
  call: Call,
): Promise<Said> {
  const found = (await supplier.search({ query }, call)).flatMap((article) => {
    const known = orderable.safeParse({ ...article, name: nameOf(article) });
    return known.success ? [{ known: known.data, article }] : [];
  });
  const articles = found.slice(0, MAX_ARTICLES);
  const shownWith = (chars: number) =>
    asData('catalogue', {
      articles: articles.map(({ known, article }) => ({ ...known, ...wordsOf(article, chars) })),
    });
  // Marks and escapes take their part too: a little less for each until it fits. Names alone always do.
  let chars = Math.floor(maxChars / Math.max(1, articles.length));
  while (chars > 0 && shownWith(chars).length > maxChars) chars = Math.floor(chars * 0.9);
  return { shown: shownWith(chars), learnt: { articles: articles.map(({ known }) => known) } };
}

function nameOf({ name }: Article): string {
  return plain(name, 200).slice(0, 300).toWellFormed();
}

function wordsOf({ supplierName, description }: Article, chars: number) {
  return { supplierName: plain(supplierName, 100), description: plain(description, chars) };
}

async function quote(
  { supplier }: ToolDependencies,
  currency: string,
  article: KnownArticle | undefined,
  call: Call,
): Promise<Said> {
  // Shown when it was asked for, and pushed out by newer ones since: only the newest are remembered.
  if (!article) throw new StepFailure('refused', 'forgotten', 'search for the article again first');
  const { supplierId, sku } = article;
  const quoted = await supplier.quote({ supplierId, sku, currency }, call);
  const unitPrice = decimal('not-negative').safeParse(quoted.unitPrice);
  if (!unitPrice.success) {
    throw new StepFailure('refused', 'no-price', `supplier ${supplierId} names no usable price`);
  }
  const quotes = [{ ...article, unitPrice: unitPrice.data }];
  return { shown: asData('supplier', { quotes, currency }), learnt: { quotes } };
}

async function budget(
  { finance }: ToolDependencies,
  { buyer, currency }: AgentInput['request'],
  { amount }: Use<'budget'>,
  call: Call,
): Promise<Said> {
  const available = await finance.available({ buyerId: buyer.id, currency }, call);
  const enough = toMinor(amount, currency) <= available.minor;
  return { shown: asData('finance', { available, enough }), learnt: { available } };
}
