import type { Rule } from './rule.ts';
import { askedFor } from './table/asked-for.ts';
import { compared } from './table/compared.ts';
import { outside } from './table/outside.ts';
import { unseen } from './table/unseen.ts';

/** Every edit that is tried, in the order of the page. */
export const rules: readonly Rule[] = [...unseen, ...outside, ...askedFor, ...compared];
