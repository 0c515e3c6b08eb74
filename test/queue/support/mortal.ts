import type { ClientBase, Pool, PoolClient } from 'pg';
import type { Engine } from '../../../queue/runs/engine.ts';

/** Where a worker dies: around the nth write that becomes durable, from 1. */
export interface Death {
  commit: number;
  side: 'before' | 'after';
}

/** An engine as a process has it: from its death on nothing it asks of the database is carried out. */
export interface MortalEngine {
  engine: Engine;
  readonly dead: boolean;
  /** Writes that became durable. */
  readonly commits: number;
}

/** Statements that are a transaction by themselves. */
const WRITES_ALONE = new Set(['child-take']);

/**
 * A worker that dies at a commit: just before it, and the server rolls back, or just after it, and
 * nobody hears of it. Its connections are real; only what the process would still do is cut off.
 */
export function mortal(engine: Engine, death?: Death): MortalEngine {
  let commits = 0;
  let dead = false;
  const killed = () => {
    dead = true;
    return new Error('killed');
  };
  /** Carries out one write that becomes durable, unless the process dies at it. */
  async function durable<T>(write: () => Promise<T>, takeBack: () => Promise<unknown>): Promise<T> {
    commits += 1;
    const dies = commits === death?.commit;
    if (dies && death.side === 'before') {
      await takeBack();
      throw killed();
    }
    const result = await write();
    if (dies) throw killed();
    return result;
  }
  const guarded = <Target extends ClientBase | Pool>(target: Target): Target =>
    new Proxy(target, {
      get(_, property) {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          if (property === 'release') return Reflect.apply(value, target, args) as unknown;
          if (dead) throw new Error('killed');
          const call = () => Reflect.apply(value, target, args) as Promise<unknown>;
          if (property === 'connect') return guarded((await call()) as PoolClient);
          if (property !== 'query' || !becomesDurable(args[0])) return call();
          return durable(call, async () => {
            if (args[0] === 'COMMIT') await target.query('ROLLBACK');
          });
        };
      },
    });
  return {
    engine: { ...engine, pool: guarded(engine.pool) },
    get dead() {
      return dead;
    },
    get commits() {
      return commits;
    },
  };
}

function becomesDurable(statement: unknown): boolean {
  if (statement === 'COMMIT') return true;
  if (typeof statement !== 'object' || statement === null || !('name' in statement)) return false;
  return typeof statement.name === 'string' && WRITES_ALONE.has(statement.name);
}
