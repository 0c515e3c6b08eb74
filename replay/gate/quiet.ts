import { DefaultLogger, Runtime } from '@temporalio/worker';

/**
 * The SDK logs every deviation in a paragraph of its own; ours are in the report. Once in a process,
 * before the first replay.
 */
export function replayQuietly(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: 'off' } },
  });
}
