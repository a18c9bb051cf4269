import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import type { Clock } from '../lib/clock.ts';

/** The configurable log levels. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** The name of a log level. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The options of a log: its destination, its lowest level and its clock. */
interface LogOptions {
  readonly stream?: DestinationStream;
  readonly level: LogLevel;
  readonly clock: Clock;
}

/** Returns the options that all logs share: level by name, ISO time, without host name and process id. */
function loggerOptions(options: LogOptions): LoggerOptions {
  return {
    level: options.level,
    base: null,
    timestamp: () => `,"time":"${new Date(options.clock()).toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
  };
}

/** Creates the process log (start, readiness, drain, alerts): JSON lines to the stream, standard output by default. */
export function createLogger(options: LogOptions): Logger {
  return options.stream === undefined ? pino(loggerOptions(options)) : pino(loggerOptions(options), options.stream);
}
