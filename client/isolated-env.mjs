// Plain JavaScript: the bootstrap uses it before anything else is there.
import { fileURLToPath } from 'node:url';

const EMPTY_CONFIG = fileURLToPath(new URL('empty.toml', import.meta.url));

/**
 * A child's environment without the user's own servers: no TEMPORAL_*, DATABASE_URL, PARTNERS_URL, no
 * PG* (which `pg` and libpq read unasked), no model (OPENAI_*, AGENT_*) and no Q2T_* except those of the
 * test run. Temporal's tools read the user's `temporal.toml` unasked too, so they are shown an empty one.
 */
export function isolatedEnv(base) {
  const kept = Object.entries(base).filter(([name]) => !isSomebodys(name));
  return { ...Object.fromEntries(kept), TEMPORAL_CONFIG_FILE: EMPTY_CONFIG };
}

function isSomebodys(name) {
  if (name === 'DATABASE_URL' || name === 'PARTNERS_URL') return true;
  if (name.startsWith('Q2T_')) return !name.startsWith('Q2T_TEST_') && name !== 'Q2T_DEBUG';
  if (name === 'AGENT_MODEL' || name === 'AGENT_PRICE_EUR_PER_MILLION_TOKENS') return true;
  return /^(TEMPORAL|OPENAI)_/.test(name) || /^PG[A-Z]+$/.test(name);
}
