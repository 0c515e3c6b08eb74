// Loaded into the processes that a stack starts. Node keeps what it compiled when a process ends; one that
// is killed, as most workers of the lab are, never gets there, and the next one compiles it all again.
import { flushCompileCache } from 'node:module';

const AFTER_START_MS = 3_000;
setTimeout(flushCompileCache, AFTER_START_MS).unref();
