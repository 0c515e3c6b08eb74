/**
 * One place per process for work that was in the hands of a lost worker. A process that dies takes
 * everything in it along, the innocent with the one that killed it; from then on each of them is
 * carried out with no other suspect beside it, so that only the guilty one uses up its budget.
 */
export interface Suspects {
  /** Takes the place when it is free. */
  reserve(): boolean;
  free(): void;
}

export function oneSuspectAtATime(): Suspects {
  let taken = false;
  return {
    reserve() {
      if (taken) return false;
      taken = true;
      return true;
    },
    free() {
      taken = false;
    },
  };
}

/** How long a suspect waits before it asks for the place again. */
export const SUSPECT_DELAY_MS = 200;
