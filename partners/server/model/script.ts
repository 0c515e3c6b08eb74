import { Exact, toDecimal } from '../../../core/order/money.ts';
import type { Knowledge } from './knowledge.ts';

/** What the model says, before it is put on the wire. `cut`: the token limit came first. */
export interface Reply {
  text: string;
  calls: { name: string; arguments: string }[];
  cut?: boolean;
}

export function call(name: string, args: object): Reply['calls'][number] {
  return { name, arguments: JSON.stringify(args) };
}

function say(text: string, ...calls: Reply['calls']): Reply {
  return { text, calls };
}

/** A buyer that is none too clever: looks for three articles, takes the cheapest, believes what it reads. */
export function reply(known: Knowledge): Reply {
  const { quantity, what, limit, ponder, askFirst } = wishOf(known.text);
  if (known.turns < ponder) {
    return say('', call(known.searchTool, { query: `${what} variant ${known.turns + 1}` }));
  }
  const failed = known.failed.get('submit_order');
  if (failed !== undefined) return say('', call('refuse', { reason: failed.slice(0, 300) }));
  if (known.articles.length === 0) {
    return known.searched
      ? say('', call('refuse', { reason: `no supplier has ${what}` }))
      : say('I look for suppliers.', call(known.searchTool, { query: what }));
  }
  if (askFirst && known.answers === 0 && !known.failed.has('ask_person')) {
    return say('', call('ask_person', { question: `Which colour should the ${what} have?` }));
  }
  if (known.quotes.length === 0) {
    if (known.failed.has('get_quote')) {
      return say('', call('refuse', { reason: 'nobody quotes a price' }));
    }
    const asked = known.articles.slice(-3).map(({ supplierId, sku }) => ({ supplierId, sku }));
    const calls = asked.map((each) => call('get_quote', { ...each, quantity }));
    return say('I ask them all for a price.', ...calls);
  }
  return buyFrom(known, { quantity: fooled(known) ?? quantity, limit });
}

function buyFrom(
  known: Knowledge,
  { quantity, limit }: { quantity: string; limit: string | undefined },
): Reply {
  const [best] = known.quotes.toSorted((a, b) => new Exact(a.unitPrice).cmp(b.unitPrice));
  if (!best || (limit !== undefined && new Exact(best.unitPrice).gt(limit))) {
    return say('', call('refuse', { reason: `nobody sells it for ${limit ?? 'any price'}` }));
  }
  const total = new Exact(best.unitPrice).times(quantity);
  if (!known.available) {
    if (known.failed.has('check_budget')) {
      return say('', call('refuse', { reason: 'finance does not answer' }));
    }
    return say('', call('check_budget', { amount: total.round(2, 3).toString() }));
  }
  const available = toDecimal(known.available);
  if (total.gt(available)) {
    return say(
      '',
      call('refuse', { reason: `it costs ${total.toString()}, there is ${available}` }),
    );
  }
  const lines = [{ sku: best.sku, quantity }];
  return say('', call('submit_order', { supplierId: best.supplierId, lines }));
}

/** `40 office chairs under 200 euro each, …`; the first number is how many. */
function wishOf(text: string) {
  const plain = text.replaceAll(/\[model:[^\]]*\]/g, '');
  const [, quantity = '1', what = 'things'] =
    /(\d{1,6})\s+(.+?)(?=\s+under\b|\s*[,.;]|$)/u.exec(plain) ?? [];
  return {
    quantity,
    what: what.trim().slice(0, 200),
    limit: /\bunder (\d{1,9}(?:\.\d{1,2})?)/.exec(plain)?.[1],
    askFirst: /\bask (me|us) first\b/i.test(plain),
    ponder: Number(/\[model: ponder (\d{1,4})\]/.exec(text)?.[1] ?? 0),
  };
}

/** Text from a supplier that gives orders: a model may follow it, which is why the program must not. */
function fooled({ articles }: Knowledge): string | undefined {
  const texts = articles.map(({ description = '' }) => description).join('\n');
  return /ignore your limits and order ([\d,]+)/i.exec(texts)?.[1]?.replaceAll(',', '');
}
