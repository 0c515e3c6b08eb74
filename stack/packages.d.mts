import type { Node } from './runtime.mjs';

export function ensurePackages(node: Node): Promise<void>;
export function packagesMatch(root?: string): boolean;
