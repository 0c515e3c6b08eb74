import { InvalidArgumentError } from 'commander';
import { nanoEur } from '../core/agent/prices.ts';

/** Names and reasons end up in histories that people read: one line, and an end to it. */
const MAX_NAME = 100;
const MAX_SENTENCE = 500;
const MAX_WORDS = 1_000;
const MAX_LISTED = 1_000;
const MAX_TURNS = 1_000;

const CONTROL = /[\p{Cc}\p{Cs}]/u;

function oneLine(value: string, max: number): string {
  const trimmed = value.normalize('NFC').trim();
  if (trimmed === '') throw new InvalidArgumentError('It is empty. Give a few words.');
  if (trimmed.length > max) {
    throw new InvalidArgumentError(`It has ${trimmed.length} characters; ${max} are the limit.`);
  }
  if (CONTROL.test(trimmed)) {
    throw new InvalidArgumentError('It has control characters. Keep it on one line.');
  }
  return trimmed;
}

/** Option parsers for commander: the value in canonical form, or an InvalidArgumentError. */
export const name = (value: string): string => oneLine(value, MAX_NAME);
export const sentence = (value: string): string => oneLine(value, MAX_SENTENCE);

/** What a person answers an agent. */
export const words = (value: string): string => oneLine(value, MAX_WORDS);

/** An amount in euro, in nano-euros. */
export function euro(value: string): number {
  if (!/^\d{1,6}(\.\d{1,9})?$/.test(value)) {
    throw new InvalidArgumentError('It must be an amount in euro, such as 2.00.');
  }
  return nanoEur(value);
}

export function turns(value: string): number {
  return wholeNumber(value, MAX_TURNS);
}

export function limit(value: string): number {
  return wholeNumber(value, MAX_LISTED);
}

/** A share of new runs, in whole hundredths. */
export function percent(value: string): number {
  return wholeNumber(value, 100, 0);
}

export function gateVersion(value: string): number {
  return wholeNumber(value, Number.MAX_SAFE_INTEGER);
}

export function eventId(value: string): number {
  return wholeNumber(value, Number.MAX_SAFE_INTEGER);
}

function wholeNumber(value: string, max: number, min = 1): number {
  const number = Number(value);
  if (!/^[0-9]+$/.test(value) || number < min || number > max) {
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  }
  return number;
}
