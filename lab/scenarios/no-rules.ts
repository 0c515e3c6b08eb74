import type { Scenario } from '../scenario.ts';
export const noRules = { name: 'no-rules' } as Scenario;
