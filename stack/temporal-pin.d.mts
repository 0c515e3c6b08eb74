export const TEMPORAL_VERSION: string;
export const MINIMUM_TEMPORAL: string;
export const CACHE_NAME: string;
