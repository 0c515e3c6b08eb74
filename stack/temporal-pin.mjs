/** The Temporal CLI that the project brings: its development server is 1.32.0. */
export const TEMPORAL_VERSION = '1.9.1';
/** An own one on PATH may be anything from this version on. */
export const MINIMUM_TEMPORAL = '1.9.0';
/** Its name in `.q2t/cache`. */
export const CACHE_NAME = `temporal-${TEMPORAL_VERSION}`;
