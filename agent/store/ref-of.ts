import { createHash } from 'node:crypto';
import type { Ref } from '../../core/agent/store.ts';

/** The name of content, in whatever store it lies. */
export function refOf(content: Uint8Array): Ref {
  return `sha256-${createHash('sha256').update(content).digest('hex')}`;
}
