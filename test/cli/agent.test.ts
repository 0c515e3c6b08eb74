import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { openFileStore } from '../../agent/store/files.ts';
import { until } from '../support/until.ts';
import { openAgentSide } from './agent-sides.ts';
import type { AgentSide } from './agent-sides.ts';
import { assertGolden } from './q2t.ts';
import { SIDES } from './sides.ts';

for (const on of SIDES) {
  describe(`the buying agent's commands on ${on}`, () => {
    let side: AgentSide;
    before(async () => {
      side = await openAgentSide(on);
    });
    afterEach(() => side.partners.clearFault());
    after(() => side.close());

    // The commands are the same, and test/parity compares what they are told: once will do.
    const sameOnBoth = { skip: on === 'temporal' && 'as on the queue' };

    const who = ['--buyer', 'acme', '--email', 'buyer@acme.example'];
    /** Several tests share a server. */
    const aRef = () => `REQ-${randomBytes(4).toString('hex')}`;
    /** Asks, follows it until it rests, and says under which reference. */
    async function ask(words: string, more: string[] = [], ref = aRef()) {
      const rested = await side.run(['ask', words, '--ref', ref, ...who, '--follow', ...more]);
      return { ref, ...rested, golden: { names: { [ref]: 'REQ-A' }, on } };
    }

    const ended = (ref: string, outcome: string) =>
      until(`${ref} ended, ${outcome}`, async () => {
        const { stdout } = await side.run(['where', ref]);
        return stdout.includes(`ended, ${outcome}`);
      });

    test('a small request is followed to its end, and everybody can read how it went', async () => {
      const { ref, golden, ...followed } = await ask('3 office chairs under 200 euro each');
      await assertGolden('agent-ask', followed, golden);
      const where = await side.run(['where', ref, '--history', '--json']);
      const { result } = JSON.parse(where.stdout) as { result: { position: { history: [] } } };
      assert.ok(result.position.history.length > 5);
      await assertGolden('agent-transcript', await side.run(['transcript', ref]), golden);
      const full = await side.run(['transcript', ref, '--full', '--json']);
      assert.match(full.stdout, /"kind": "transcript"[^]*In stock, delivered within a week/);
      const order = await side.runAny(['where', `${ref}-PO`]);
      assert.match(order.stdout, /ended, completed/);
      const again = await side.run([
        'ask',
        '3 office chairs under 200 euro each',
        '--ref',
        ref,
        ...who,
      ]);
      assert.match(again.stdout, /already finished, completed$/);
      const other = await side.run(['ask', '4 tables', '--ref', ref, ...who]);
      assert.equal(other.exitCode, 4);
      assert.match(other.stdout, /conflict/);
    });

    test('a question stops the following, is answered once, and then it goes on', async () => {
      const { ref, golden, ...followed } = await ask('3 office chairs, ask me first');
      assert.equal(followed.exitCode, 0, followed.stderr);
      await assertGolden('agent-question', await side.run(['where', ref]), golden);
      const wrong = await side.run(['answer', ref, '--approve', '--by', 'Ann']);
      assert.equal(wrong.exitCode, 4);
      assert.match(wrong.stdout, /not answered, wrong-gate/);
      const long = await side.run(['answer', ref, 'x'.repeat(1_001), '--by', 'Ann']);
      assert.equal(long.exitCode, 2);
      assert.match(long.stderr, /has 1001 characters; 1000 are the limit/);
      const answer = ['answer', ref, 'dark blue', '--by', 'Ann'];
      const taken = await side.run(answer);
      assert.equal(taken.exitCode, 0, taken.stdout);
      assert.match(taken.stdout, /^question \(version 1\) of acme\/REQ-\w+ answered by Ann$/);
      const second = ['answer', ref, 'red', '--by', 'Bob'];
      const refused = await side.run([...second, '--gate', 'question', '--gate-version', '1']);
      assert.equal(refused.exitCode, 4, refused.stdout);
      assert.match(refused.stdout, /question \(version 1\) of acme\/REQ-\w+ not answered, /);
      await ended(ref, 'completed');
    });

    test('an order above the limit waits for a yes, and a no ends the request', async () => {
      const { ref, golden, ...followed } = await ask('400 office chairs');
      assert.match(followed.stdout, /waits for +purchasing to answer approval/);
      await assertGolden('agent-approval', await side.run(['where', ref]), golden);
      const list = await side.run(['list', '--status', 'waiting']);
      assert.match(list.stdout, new RegExp(`^acme/${ref} +waiting +ask +purchasing`, 'm'));
      const no = await side.run(['answer', ref, '--reject', '--by', 'Ann', '--note', 'too many']);
      assert.equal(no.exitCode, 0, no.stdout);
      assert.match(no.stdout, /approval \(version 1\) of acme\/REQ-\w+ rejected by Ann$/);
      await ended(ref, 'rejected');
    });

    test(
      'a request is cancelled while it waits, and a second time is a conflict',
      sameOnBoth,
      async () => {
        const { ref } = await ask('3 office chairs, ask me first');
        const cancel = ['cancel', ref, '--by', 'Ann', '--reason', 'no need'];
        const first = await side.run(cancel);
        assert.equal(first.exitCode, 0, first.stderr);
        assert.match(first.stdout, /cancel requested by Ann/);
        await ended(ref, 'cancelled');
        assert.equal((await side.run(cancel)).exitCode, 4);
      },
    );

    test('a budget that is too small ends it before the model is asked', sameOnBoth, async () => {
      const { stdout } = await ask('3 office chairs', ['--budget-eur', '0.0001']);
      assert.match(stdout, /ended, exhausted \(turn 0 of at most 30\)/);
      assert.match(stdout, /budget of money/);
    });

    test(
      'a model that refuses makes it stuck, and an operator gets it going again',
      sameOnBoth,
      async () => {
        const ref = aRef();
        const refusal = { kind: 'status', status: 400 } as const;
        await side.partners.setFault({
          partner: 'model',
          reference: `acme/${ref}`,
          effect: refusal,
        });
        const { stdout, stderr } = await ask('3 office chairs', [], ref);
        assert.match(stdout, /stuck at think/);
        assert.match(stderr, /q2t agent dead-letters replay acme\/REQ-\w+ --by NAME --why TEXT/);
        await side.partners.clearFault();
        const listed = await side.run(['dead-letters', 'list']);
        assert.match(listed.stdout, new RegExp(`^acme/${ref} +think`, 'm'));
        const shown = await side.run(['dead-letters', 'show', ref]);
        assert.match(shown.stdout, /reason +.*400/);
        const why = ['--by', 'Ann', '--why', 'it takes requests again'];
        const replayed = await side.run(['dead-letters', 'replay', ref, ...why]);
        assert.equal(replayed.exitCode, 0, replayed.stdout);
        assert.equal((await side.run(['dead-letters', 'discard', ref, ...why])).exitCode, 4);
      },
    );

    test('a request that nobody has ends with 3, and no order is taken for one', async () => {
      for (const command of [['where'], ['transcript'], ['cancel', '--by', 'A', '--reason', 'x']]) {
        const [name = '', ...flags] = command;
        const { exitCode, stderr } = await side.run([name, 'acme/REQ-none', ...flags]);
        assert.equal(exitCode, 3, name);
        assert.match(stderr, /There is no request acme\/REQ-none on/);
      }
    });

    // On Temporal it goes by all runs of the namespace, which other tests share.
    const notHere = on === 'temporal' && 'needs a namespace of its own';
    test(
      'collecting takes what no run names, and from the wrong store nothing',
      { skip: notHere },
      async () => {
        const store = await openFileStore(side.storeDir);
        const orphan = await store.put(Buffer.from('left by a crash'));
        const yesterday = new Date(Date.now() - 86_400_000);
        const part = orphan.slice('sha256-'.length).slice(0, 2);
        await utimes(join(side.storeDir, part, orphan), yesterday, yesterday);
        const other = join(side.storeDir, 'other');
        await openFileStore(other);
        const wrong = await side.run(['collect'], { Q2T_STORE_DIR: other });
        assert.equal(wrong.exitCode, 2);
        assert.match(wrong.stderr, /names what is not in .*other.*nothing was taken/);
        const missing = await side.run(['collect'], { Q2T_STORE_DIR: join(side.storeDir, 'none') });
        assert.equal(missing.exitCode, 1);
        assert.match(missing.stderr, /no claim-check store at .*none/);
        const { exitCode, stdout } = await side.run(['collect']);
        assert.equal(exitCode, 0);
        assert.match(stdout, /^orphans taken: 1 \(15 bytes\)/);
      },
    );
  });
}
