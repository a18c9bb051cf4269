import type { IncomingMessage, ServerResponse } from 'node:http';
import { destination } from 'pino';
import { pinoHttp } from 'pino-http';
import type { Trace } from '../model/trace.ts';
import { loggerOptions, type LogOptions } from './logger.ts';
import { createNameTag } from '../privacy/name-tag.ts';
import { createFullLine } from './full-line.ts';
import { createPlainLine } from './plain-line.ts';
import { traceLine, type LineFacts } from './trace-line.ts';

const nothing = () => undefined;

/** What the line of one request is made of; `caller` is the name of the principal, if there is one. */
export interface AccessEntry extends LineFacts {
  readonly trace: Trace;
}

/** How the access log is written. */
export interface AccessLogOptions extends LogOptions {
  /** True where names of principals may be shown; else a keyed hash stands for them. */
  readonly principalNames?: boolean;
}

/** Writes one line for each request. */
export interface AccessLog {
  /**
   * Writes the line when the response has ended, either way. Register listeners that complete the trace before;
   * what they leave out of it (status, seconds) is read from the response and the clock.
   */
  watch(request: IncomingMessage, response: ServerResponse, entry: () => AccessEntry): void;
  /** Writes the same line at once, for a request whose trace is complete. */
  write(entry: AccessEntry): void;
}

// A property and not a WeakMap: in an old one, what is as young as a request outlives every collection of the young.
const ENTRY = Symbol('entry');
interface Logged {
  [ENTRY]?: () => AccessEntry;
}

/**
 * The access log. The library would log the request with its credential and its query: both serializers answer nothing,
 * so that a line holds what the trace says and no more.
 */
export function createAccessLog(options: AccessLogOptions): AccessLog {
  const tag = createNameTag();
  const stream = options.stream ?? destination(1);
  const shown = (caller: string | undefined) => (caller === undefined || options.principalNames ? caller : tag(caller));
  const line = (_request: IncomingMessage, response: ServerResponse): object => {
    const entry = (response as Logged)[ENTRY]?.();
    if (entry === undefined) return {};
    const { trace } = entry;
    const caller = shown(entry.caller);
    const complete: Trace = {
      ...trace,
      status: trace.status ?? (response.writableFinished ? response.statusCode : 0),
      seconds: trace.seconds ?? (options.clock() - trace.startedAt) / 1000,
    };
    // The logger of the request holds its id already.
    const { requestId: _requestId, ...rest } = traceLine(complete, { ...entry, caller });
    return rest;
  };
  const middleware = pinoHttp(
    {
      ...loggerOptions(options),
      quietReqLogger: true,
      quietResLogger: true,
      wrapSerializers: false,
      serializers: { req: nothing, res: nothing, err: nothing },
      genReqId: (_request, response) => (response as Logged)[ENTRY]?.().trace.requestId ?? '',
      customAttributeKeys: { reqId: 'requestId' },
      customSuccessObject: line,
      customErrorObject: line,
      customSuccessMessage: () => 'request',
      customErrorMessage: () => 'request',
      customLogLevel: (_request, response, error) =>
        error !== undefined || response.statusCode >= 500 ? 'error' : 'info',
    },
    stream,
  );
  const { logger } = middleware;
  const plainLine = createPlainLine(options.clock);
  const fullLine = createFullLine(options.clock);
  return {
    write(entry) {
      const { trace } = entry;
      if (!logger.isLevelEnabled((trace.status ?? 0) >= 500 ? 'error' : 'info')) return;
      const caller = shown(entry.caller);
      const { template, target } = entry;
      const facts = { template, target, caller };
      stream.write(plainLine(trace, facts) ?? fullLine(trace, facts));
    },
    watch: (request, response, entry) => {
      (response as Logged)[ENTRY] = entry;
      middleware(request, response);
    },
  };
}
