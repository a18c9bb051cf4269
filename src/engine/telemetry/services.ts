import type { DestinationStream, Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import type { Service } from '../model/service.ts';
import { bytesTo, createLineBatch, createLogger, type LogLevel } from './logs.ts';
import { createRedisMetrics, type RedisMetrics } from './redis-metrics.ts';

/** What the services of this folder use. */
export interface TelemetryNeeds {
  readonly settings: { readonly logging: { readonly level: LogLevel } };
  readonly clock: Clock;
  /** Where the lines of both logs go. Default: standard output. */
  readonly logStream: DestinationStream | undefined;
  readonly logOutput: LogOutput;
}

/** Where the lines of both logs go. */
export interface LogOutput {
  readonly stream: DestinationStream;
  flush(): void;
}

/** Where the lines of both logs go. Lines for standard output are written in batches, the last one at the end. */
export const logOutput: Service<LogOutput, TelemetryNeeds> = {
  start({ logStream }) {
    if (logStream !== undefined) return { stream: logStream, flush: () => undefined };
    const stream = createLineBatch(bytesTo(1));
    return { stream, flush: stream.flush };
  },
  close: ({ flush }) => flush(),
};

/** The process log. */
export const logger: Service<Logger, TelemetryNeeds> = {
  start: ({ settings: { logging }, clock, logOutput: { stream } }) =>
    createLogger({ level: logging.level, clock, stream }),
  use(log, { settings }) {
    log.level = settings.logging.level;
  },
};

/** The metrics of Redis. They are shown only if Redis is configured. */
export const redisMetrics: Service<RedisMetrics, TelemetryNeeds> = { start: createRedisMetrics };
