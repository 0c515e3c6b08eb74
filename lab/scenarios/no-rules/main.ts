import { Ground } from '../../world/ground.ts';
import { openStage } from '../../running/stage.ts';
import { noRules } from '../no-rules.ts';
import { tryLinks } from './chain.ts';
import { trySteps } from './queue.ts';
import { tryWorkflows } from './temporal.ts';
const ground = new Ground();
await ground.lay();
const { stage, clear } = openStage(
  ground,
  { scenario: noRules, implementation: process.argv[2] as 'queue' | 'chain' },
  {
    size: 'small',
    seed: 1,
    signal: new AbortController().signal,
    say: async (t) => console.error(t),
  },
);
try {
  const seen = await (process.argv[2] === 'chain'
    ? tryLinks(stage)
    : process.argv[2] === 'queue'
      ? trySteps(stage)
      : tryWorkflows(stage));
  for (const [name, v] of seen) console.log(name.padEnd(50), JSON.stringify(v));
} finally {
  await clear();
  await ground.stop();
}
