import type { Implementation } from '../../core/contract.ts';

/** A command to copy: `q2t where acme/1 --on queue`. What is the default is left out. */
export function commandOn(implementation: Implementation, command: string): string {
  return `q2t ${command}${implementation === 'temporal' ? '' : ` --on ${implementation}`}`;
}
