import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { rulesPage } from '../../../replay/rules/page.ts';
import { rules } from '../../../replay/rules/rules.ts';
import { projectRoot } from '../../../stack/runtime.mjs';

export const RULES_PAGE = join(projectRoot, 'docs', 'replay-rules.md');

/** The page as it is written: in the project's format. */
export async function pageOfRules(): Promise<string> {
  const options = await resolveConfig(RULES_PAGE);
  return format(rulesPage(rules), { ...options, parser: 'markdown' });
}
