import type { Fault } from '../fault.ts';
import { quote } from '../quote.ts';
import { pathOf } from './xml.ts';
import type { XmlElement } from './xml.ts';

const NAMESPACE = 'urn:oasis:names:specification:ubl:schema:xsd:';
export const ORDER_NAMESPACE = `${NAMESPACE}Order-2`;
const AGGREGATES = `${NAMESPACE}CommonAggregateComponents-2`;
const BASICS = `${NAMESPACE}CommonBasicComponents-2`;

/** The UBL children of that name. Elements of other namespaces (extensions) are somebody else's. */
export function childrenOf(parent: XmlElement | undefined, local: string): XmlElement[] {
  return (parent?.children ?? []).filter(
    (child) => child.local === local && (child.uri === AGGREGATES || child.uri === BASICS),
  );
}

/** The first element under `parent` along a path such as `Party/Contact`, or undefined. */
export function find(parent: XmlElement | undefined, path: string): XmlElement | undefined {
  return path.split('/').reduce((element, local) => childrenOf(element, local)[0], parent);
}

/** The text of an element with its white space collapsed, as pretty-printing needs it; undefined when there is none. */
export function textOf(element: XmlElement | undefined): string | undefined {
  const text = element?.text.replace(/\s+/g, ' ').trim();
  return text === '' ? undefined : text;
}

/**
 * One document being read: the faults found on the way, and which part of the XML each field of the
 * order came from (or should have come from), so that a fault of the order can point there.
 */
export class Reading {
  readonly faults: Fault[] = [];
  private readonly sources = new Map<string, string>();
  private readonly hints = new Map<string, string>();

  /** Notes that the order's `field` is at `path` under `element`, and returns the text there. */
  take(field: string, element: XmlElement, path: string): string | undefined {
    const found = find(element, path);
    this.note(field, found ? pathOf(found) : `${pathOf(element)}/${path}`);
    return textOf(found);
  }

  note(field: string, path: string): void {
    this.sources.set(field, path);
  }

  /** What to tell the sender where `field` is missing, when "add it" is not enough. */
  hintIfMissing(field: string, hint: string): void {
    this.hints.set(field, hint);
  }

  fault(element: XmlElement, message: string, hint: string): void {
    this.faults.push({ path: pathOf(element), message, hint });
  }

  /** A fault of the order as a fault of the document. */
  located(fault: Fault): Fault {
    const path = this.sourceOf(fault.path);
    if (fault.message !== 'is missing') return { ...fault, path };
    return { ...fault, path, hint: this.hints.get(fault.path) ?? 'add it, with a value' };
  }

  /** The source of a field, else that of what it is in: `lines[3].x` falls back to `lines[3]`. */
  private sourceOf(field: string): string {
    const source = this.sources.get(field);
    if (source !== undefined || field === '') return source ?? '/Order';
    return this.sourceOf(field.replace(/(^|\.)[^.[]*$|\[[^[]*$/, ''));
  }
}

/**
 * An XSD decimal as our schema takes it: `+4`, `.5`, `5.` and any number of closing zeros are legal
 * there. Anything else comes back as it is, for the schema to refuse.
 */
export function xsdDecimal(text: string | undefined): string | undefined {
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text ?? '');
  if (!parts || !/\d/.test(text ?? '')) return text;
  const [, sign, whole, fraction = ''] = parts;
  const decimals = fraction.replace(/0+$/, '');
  return `${sign === '-' ? '-' : ''}${whole || '0'}${decimals === '' ? '' : `.${decimals}`}`;
}

/** The amounts' currency must be the document's; one that names none is taken to be in it. */
export function checkCurrency(
  reading: Reading,
  element: XmlElement | undefined,
  currency: string | undefined,
): void {
  const own = element?.attributes.get('currencyID')?.trim();
  if (!element || own === undefined || own === currency) return;
  reading.faults.push({
    path: `${pathOf(element)}/@currencyID`,
    message: `is ${quote(own)}, but the document's currency is ${quote(currency ?? '')}`,
    hint: 'write every amount in the DocumentCurrencyCode',
  });
}
