export interface Node {
  path: string;
  version: string;
}
export const projectRoot: string;
export const stateDir: string;
export const MINIMUM_NODE: string;
export const NODE_FLAGS: string[];
export function compareVersions(a: string, b: string): number;
export function findNode(minimum?: string): Node | undefined;
export function pinnedNode():
  { name: string; version: string; integrity: string; dir: string; path: string } | undefined;
export function ensureNode(minimum?: string): Promise<Node>;
export function underNode(node: Node, env?: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
export function withoutNpmRun(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
