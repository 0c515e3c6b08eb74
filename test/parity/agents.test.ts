import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { requestIdOf } from '../../core/agent/identity.ts';
import type { AgentAsk } from '../../core/agent/input.ts';
import { agentPaths, type AgentPath } from './agent-paths.ts';
import { observe, type AgentObservation, type AgentSide } from './agent-side.ts';
import { openQueueAgents, openTemporalAgents } from './open-agents.ts';

/** The same request, put to both: what matters must not depend on who runs it. */
suite('queue and temporal agree on a request that is', { concurrency: 4 }, () => {
  let sides: readonly [AgentSide, AgentSide];
  before(async () => {
    sides = await Promise.all([openQueueAgents(), openTemporalAgents()]);
  });
  after(() => Promise.all(sides.map((side) => side.close())));

  for (const path of agentPaths) {
    test(path.name, async () => {
      const asked = path.asked();
      const [queue, temporal] = await Promise.all(sides.map((side) => run(side, path, asked)));
      assert.ok(queue && temporal);
      // First against what is right, so that both being wrong in the same way is no agreement.
      for (const { outcome, effects, spent, paid, turns, entries } of [queue, temporal]) {
        assert.equal(outcome, path.outcome);
        assert.deepEqual(effects, path.effects);
        assert.deepEqual([turns, entries], [spent.calls, spent.calls]);
        // Each answer is paid for and charged once; of a lost one only the charge is certain.
        assert.ok(
          paid >= spent.calls && paid <= spent.calls + spent.lostCalls,
          JSON.stringify(spent),
        );
      }
      assert.deepEqual(queue, temporal);
    });
  }
});

async function run(side: AgentSide, path: AgentPath, asked: AgentAsk): Promise<AgentObservation> {
  const id = requestIdOf(asked.request);
  await path.before?.(side, id);
  for (const fault of path.faults?.(id) ?? []) await side.partners.setFault(fault);
  assert.deepEqual(await side.pipeline.ask(asked), { kind: 'started', id });
  await path.happens?.(side, id);
  const observation = await observe(side, id);
  const again = await side.pipeline.ask(asked);
  assert.deepEqual(again, { kind: 'already-finished', id, outcome: path.outcome });
  const other = { ...asked, request: { ...asked.request, text: 'something else' } };
  assert.equal((await side.pipeline.ask(other)).kind, 'conflict');
  return observation;
}
