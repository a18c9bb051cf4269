import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import type { Clock } from '../lib/clock.ts';
import { createLogTime } from './log-time.ts';

/** The levels that a log can be set to. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** The name of a level that a log can be set to. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Where lines go, from which level on, and whose time they carry. */
export interface LogOptions {
  readonly stream?: DestinationStream;
  readonly level: LogLevel;
  readonly clock: Clock;
}

/** The options that every log of the process shares: level by name, ISO time, neither host name nor process id. */
export function loggerOptions(options: LogOptions): LoggerOptions {
  const time = createLogTime(options.clock);
  return {
    level: options.level,
    base: null,
    timestamp: () => `,"time":"${time()}"`,
    formatters: { level: (label) => ({ level: label }) },
  };
}

/** The log of the process itself: start, readiness, drain, alerts; JSON lines to standard output unless given a stream. */
export function createLogger(options: LogOptions): Logger {
  return options.stream === undefined ? pino(loggerOptions(options)) : pino(loggerOptions(options), options.stream);
}
