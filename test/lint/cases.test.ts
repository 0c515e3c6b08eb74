import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const TESTS = fileURLToPath(new URL('../', import.meta.url));

/**
 * Failures that people met with queues in production, by the number under which this project knows
 * them. A test says which of them it is about at the start of its name: "A3: …", "A6, A7: …". Those of
 * message groups (A20, A31) come with message groups.
 */
const CASES: Record<string, string> = {
  A1: 'a visibility shorter than the work: the first handler goes on beside the second',
  A3: 'a worker that was taken for lost finishes after all, and finishes twice',
  A5: 'an ack with an expired receipt ends the consumer',
  A6: 'a job that kills its worker is not counted, and grinds for ever',
  A7: 'a poison message first in line keeps the good ones from finishing',
  A9: 'the last child is counted twice and wakes its parent twice',
  A10: 'children that end at the same moment, or in another order, wake the parent too early',
  A11: 'a child that failed for good leaves its parent waiting, or wakes it while others are out',
  A14: 'a LISTEN that died or is half-open goes unnoticed',
  A15: 'NOTIFY in the transactions of producers makes all commits wait for one lock',
  A17: 'an old snapshot keeps dead rows alive, and everything slows down',
  A18: 'the effect is done, the ack is lost, the dead letter is redriven',
  A19: 'a redrive changes the id, a dead letter ages from its first send',
  A21: 'leases and timers are judged by a worker’s own clock',
  A23: 'a wait longer than the visibility is delivered again and again',
  A24: 'a timer further ahead than a language counts, or at NaN, fires at once',
  A25: 'a deploy in the middle of a burst loses or repeats work',
  A27: 'an old answer approves a later question',
  A28: 'an answer that comes after the deadline disappears',
};

test('every failure that others met with queues has a test that says so in its name', async () => {
  const told = new Set<string>();
  for await (const file of glob('queue/**/*.ts', { cwd: TESTS })) {
    const text = await readFile(`${TESTS}/${file}`, 'utf8');
    for (const [, numbers = ''] of text.matchAll(/test\(\s*['"`]((?:A\d+(?:, )?)+): /g)) {
      for (const number of numbers.split(', ')) told.add(number);
    }
  }
  const missing = Object.entries(CASES).filter(([number]) => !told.has(number));
  assert.deepEqual(missing, []);
  const unknown = [...told].filter((number) => !(number in CASES));
  assert.deepEqual(unknown, []);
});
