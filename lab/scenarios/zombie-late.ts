import { businessKey, orderIdOf } from '../../core/identity.ts';
import { judgeEffects, ONCE } from '../observe/effects.ts';
import { countsOnce, untilThrough } from '../observe/until.ts';
import { seconds } from '../observe/words.ts';
import type { Scenario } from '../scenario.ts';

export const zombieLate: Scenario = {
  name: 'zombie-late',
  claim:
    'nobody can call back a request that is on its way: it is a second effect if it lands too late',
  about:
    'asking before acting is as good as the time after which nothing more can land; no token of ours ' +
    'is looked at by a partner who takes no keys',
  fault:
    'SIGSTOP of a worker whose mail the mailer has not read yet. The successor waits the settle time, ' +
    'asks, hears of no mail and sends it; then the first one lands',
  counts: 'mails sent; the bound within which queue and temporal hold, see kill-worker',
  code: {
    chain: ['queue/chain/steps.ts'],
    queue: ['queue/ledger/effect.ts', 'core/policy.ts'],
    temporal: ['activities/attempt.ts', 'core/policy.ts'],
  },
  expected: {
    chain: { verdict: 'broke', how: 'mailed twice' },
    queue: { verdict: 'broke', how: 'mailed twice' },
    temporal: { verdict: 'broke', how: 'mailed twice' },
  },
  limitMs: { small: 180_000 },
  seconds: 15,
  async run({ world: open, say, implementation }) {
    const world = await open({
      wired: true,
      policy: { partnerTimeoutMs: 600_000, attemptTimeoutMs: 600_000 },
    });
    const order = world.order('PO-2026-0193');
    const id = orderIdOf(order);
    const faultId = await world.partners.setFault({
      partner: 'mailer',
      operation: 'send',
      reference: businessKey(id),
      times: 1,
      effect: { kind: 'hang-before' },
    });
    const frozen = await world.startWorker();
    await world.pipeline.submit(order, world.policy);
    await world.partners.waitUntilHeld({ faultId }, 60_000);
    frozen.freeze();
    if (implementation === 'temporal') world.wire.cut(frozen.client);
    await say(`worker ${frozen.pid} frozen; its mail is on the way, not read by the mailer`);
    await world.startWorker();
    await untilThrough(world, id);
    await countsOnce(world, id, ({ mail }) => mail > 0);
    await say('another worker has sent the mail, after it had asked and waited');
    await world.partners.release(faultId);
    const counts = await countsOnce(world, id, ({ mail }) => mail > 1);
    await say(`the first one lands: ${counts.mail} mails`);
    const outcome = judgeEffects(counts, ONCE);
    if (outcome.verdict !== 'broke' || implementation === 'chain') return outcome;
    const bound = seconds(world.policy.settleMs);
    return { ...outcome, counted: { 'held if it lands within': bound } };
  },
};
