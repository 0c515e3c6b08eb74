import { SaxesParser } from 'saxes';
import type { SaxesTagNS } from 'saxes';
import type { Fault } from '../fault.ts';
import { plain } from '../quote.ts';

/** An element of a document. Names are compared by namespace and local name; prefixes are the sender's own affair. */
export interface XmlElement {
  readonly uri: string;
  readonly local: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: XmlElement[];
  /** Character data directly inside, in one piece. */
  text: string;
  readonly parent: XmlElement | undefined;
  /** Which of its parent's children of that name it is, from 1; counted while parsing, since paths are asked for on every field of thousands of lines. */
  readonly nth: number;
  /** How many children of each name it has. */
  readonly counts: Map<string, number>;
}

/** UBL orders are some 12 deep; 2,500 lines have some 125,000 elements; none has more than ten attributes. */
const MAX_DEPTH = 64;
const MAX_ELEMENTS = 250_000;
const MAX_ATTRIBUTES = 100;

/** Thrown out of the parser's handlers to stop it at once. */
class Refused extends Error {
  readonly fault: Fault;

  constructor(message: string, hint: string) {
    super(message);
    this.fault = { path: '', message, hint };
  }
}

export type XmlResult = { ok: true; root: XmlElement } | { ok: false; fault: Fault };

/**
 * The document's tree. Refuses malformed XML (with line and column), a DOCTYPE, and what is too deep
 * or too large; the parser expands the five entities of XML itself and no other.
 */
export function parseXml(text: string): XmlResult {
  const parser = new SaxesParser({ xmlns: true });
  let root: XmlElement | undefined;
  let open: XmlElement | undefined;
  let elements = 0;
  let depth = 0;
  let attributes = 0;

  parser.on('error', (error) => {
    throw malformed(parser, error.message);
  });
  parser.on('doctype', () => {
    throw new Refused('has a DOCTYPE', 'remove it: entities and DTDs are refused');
  });
  parser.on('opentagstart', () => {
    attributes = 0;
  });
  parser.on('attribute', () => {
    if (++attributes > MAX_ATTRIBUTES)
      throw tooMuch(`has an element of more than ${MAX_ATTRIBUTES} attributes`);
  });
  parser.on('opentag', (tag) => {
    if (++depth > MAX_DEPTH) throw tooMuch(`is more than ${MAX_DEPTH} levels deep`);
    if (++elements > MAX_ELEMENTS) throw tooMuch(`has more than ${MAX_ELEMENTS} elements`);
    const element = elementOf(tag, open);
    if (open) open.children.push(element);
    else root = element;
    open = element;
  });
  parser.on('closetag', () => {
    depth--;
    open = open?.parent;
  });
  const addText = (part: string) => {
    if (open) open.text += part;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  try {
    parser.write(text).close();
  } catch (error) {
    if (error instanceof Refused) return { ok: false, fault: error.fault };
    throw error;
  }
  return root
    ? { ok: true, root }
    : { ok: false, fault: { path: '', message: 'has no element', hint: 'send a UBL Order' } };
}

function elementOf(tag: SaxesTagNS, parent: XmlElement | undefined): XmlElement {
  const { uri, local } = tag;
  // Attributes without a prefix are in no namespace; the others (xsi:…, xmlns:…) say nothing to us.
  const attributes = Object.values(tag.attributes)
    .filter((attribute) => attribute.prefix === '')
    .map((attribute): [string, string] => [attribute.local, attribute.value]);
  const nth = (parent?.counts.get(local) ?? 0) + 1;
  parent?.counts.set(local, nth);
  const empty = { children: [], text: '', counts: new Map<string, number>() };
  return { uri, local, attributes: new Map(attributes), parent, nth, ...empty };
}

function tooMuch(message: string): Refused {
  return new Refused(message, 'send a plain UBL Order');
}

function malformed(parser: SaxesParser<{ xmlns: true }>, message: string): Refused {
  // saxes puts the place before its message; ours has it in words.
  const why = plain(message.replace(/^\d+:\d+: /, ''), 120);
  return new Refused(
    `is not well-formed XML at line ${parser.line}, column ${parser.column + 1}`,
    why,
  );
}

/** XPath-like, without prefixes: `/Order/OrderLine[2]/LineItem`. */
export function pathOf(element: XmlElement): string {
  const { parent, local, nth } = element;
  if (!parent) return `/${local}`;
  const index = (parent.counts.get(local) ?? 1) > 1 ? `[${nth}]` : '';
  return `${pathOf(parent)}/${local}${index}`;
}
