/** Preloaded into a bundle, a module is one for all runs of a worker, and what is in this map with it. */
export const known = new Map<string, string>();
