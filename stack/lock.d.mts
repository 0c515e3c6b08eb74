export interface LockHolder {
  pid: number;
  identity?: string;
  /** ISO 8601. */
  since: string;
}
export function identityOf(pid: number): string | undefined;
export function isAlive(pid: number, identity: string | undefined): boolean;
export function tryLock(
  file: string,
): { release: () => void; holder?: never } | { release?: never; holder: LockHolder };
export function takeLock(file: string, onWait?: (holder: LockHolder) => void): Promise<() => void>;
