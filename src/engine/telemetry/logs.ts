import { destination, type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { boundedMemo } from '../../lib/bounded-maps.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Operation } from '../model/operation.ts';
import { eachVerdict, type Trace } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';
import { toCauseLine } from '../privacy/cause-line.ts';
import { createNameTag } from '../privacy/describe-value.ts';
import { safePath } from '../privacy/path-text.ts';
import { UNDOCUMENTED } from './label-values.ts';

/** The configurable log levels. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** The name of a log level. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The options for a log: its destination, lowest level and clock. */
interface LogOptions {
  readonly stream?: DestinationStream;
  readonly level: LogLevel;
  readonly clock: Clock;
}

/** Returns the options shared by all logs: level names, ISO timestamps, no host name and no process id. */
function loggerOptions(options: LogOptions): LoggerOptions {
  return {
    level: options.level,
    base: null,
    timestamp: () => `,"time":"${new Date(options.clock()).toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
  };
}

/**
 * Creates the process log, which covers startup, readiness, draining and alerts. It writes JSON lines to the stream,
 * which is standard output by default.
 */
export function createLogger(options: LogOptions): Logger {
  return options.stream === undefined ? pino(loggerOptions(options)) : pino(loggerOptions(options), options.stream);
}

/** The options for the access log. */
export interface AccessLogOptions {
  /** The contract's operations. Their path templates appear in the log. */
  readonly operations: readonly Pick<Operation, 'id' | 'path'>[];
  /** The words in undocumented paths that the log may contain. */
  readonly pathWords: ReadonlySet<string>;
  readonly stream: DestinationStream;
  readonly level: LogLevel;
  readonly clock: Clock;
  /** True if the log contains the names of principals. If false, a keyed hash replaces each name. */
  readonly principalNames: boolean;
  /** Returns the fingerprint of a violation in the ledger. */
  readonly fingerprintOf: (trace: Trace, violation: Violation) => string;
  /** Returns the members of features, as JSON text that starts with a comma. */
  readonly featureMembers?: (trace: Trace) => string;
  /** Returns the keyed hash that replaces a principal's name. Defaults to a hash with a new key. */
  readonly nameTag?: ReturnType<typeof createNameTag>;
}

/** Writes one line for each client request. */
interface AccessLog {
  readonly record: (trace: Trace) => void;
}

const MAX_REMEMBERED = 1_000;
const MAX_METHODS = 40;
const MAX_REMEMBERED_PATH = 200;
/** The maximum number of distinct fingerprints in one line. */
const MAX_FINGERPRINTS = 8;
const LEVELS = { info: ['trace', 'debug', 'info'], error: ['trace', 'debug', 'info', 'warn', 'error'] };

/**
 * Creates the access log. A line contains only names, numbers and codes, never values from messages. The format is the
 * same as that of the process log. The lines are built here, because a general-purpose logger would process every
 * member of an object for each line.
 */
export function createAccessLog(options: AccessLogOptions): AccessLog {
  const { operations, pathWords, stream, level, clock, principalNames, nameTag: tag = createNameTag() } = options;
  // The members that describe a documented operation are serialized once rather than for each request.
  const documented = new Map(
    operations.map(({ id, path }) => [id, boundedMemo(MAX_METHODS, (method: string) => target(id, method, path))]),
  );
  const time = createLogTime(clock);
  const callerMember = boundedMemo(
    MAX_REMEMBERED,
    (name: string) => `,"caller":${quoted(principalNames ? name : tag(name))}`,
  );
  const shortPath = boundedMemo(MAX_REMEMBERED, (path: string) => safePath(path, pathWords));
  // For an undocumented target, only the shape of its path is logged.
  const shapeOf = (path: string) => (path.length <= MAX_REMEMBERED_PATH ? shortPath(path) : safePath(path, pathWords));
  const writes = { info: LEVELS.info.includes(level), error: LEVELS.error.includes(level) };
  return {
    record(trace) {
      if (trace.background === true) return;
      const { operation, method, caller } = trace;
      const severity = (trace.status ?? 0) >= 500 ? 'error' : 'info';
      if (!writes[severity]) return;
      const named = operation === undefined ? undefined : documented.get(operation)?.(method);
      const targetMembers =
        named ?? target(operation ?? UNDOCUMENTED, method, shapeOf(trace.target?.split('?', 1)[0] ?? ''));
      const callerText = caller === undefined ? '' : callerMember(caller);
      const line = membersOf(trace, targetMembers, callerText, options);
      stream.write(`{"level":"${severity}","time":"${time()}",${line},"msg":"request"}\n`);
    },
  };
}

// Control characters, line separators and marks that change the text direction. JSON allows them in strings, but they
// can change a terminal's behavior or display.
const TERMINAL_CONTROL = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Returns the input as a JSON string without characters that terminals interpret. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(TERMINAL_CONTROL, escaped);
}

/** Returns the members that describe a request's target. */
function target(operation: string, method: string, path: string): string {
  return `"operation":${JSON.stringify(operation)},"method":${JSON.stringify(method)},"path":${JSON.stringify(path)}`;
}

// Text needs no escaping in JSON if it contains no quotes, backslashes, control characters or lone surrogates.
const PLAIN = /^[ !#-[\]-~]*$/;

function membersOf(
  trace: Trace,
  targetMembers: string,
  callerMember: string,
  { fingerprintOf, featureMembers }: Pick<AccessLogOptions, 'fingerprintOf' | 'featureMembers'>,
): string {
  const { requestId, route, status, seconds, bytes, authentication, cache, upstream, redacted } = trace;
  const id = PLAIN.test(requestId) ? `"${requestId}"` : JSON.stringify(requestId);
  const { traceparent } = trace;
  let line = `"requestId":${id},"traceId":"${traceparent.slice(3, 35)}","spanId":"${traceparent.slice(36, 52)}",${targetMembers}`;
  if (route !== undefined) line += `,"route":"${route}"`;
  line += `,"status":${status ?? 0}`;
  if (seconds !== undefined) line += `,"seconds":${rounded(seconds)}`;
  if (bytes !== undefined) line += `,"bytes":${bytes}`;
  if (authentication !== undefined) line += `,"principal":"${authentication.principal}"`;
  line += callerMember + checksOf(trace);
  if (cache !== undefined) line += `,"cache":"${cache.status}"`;
  if (cache?.shared === true) line += ',"cacheShared":true';
  if (upstream !== undefined) line += exchangeOf(upstream);
  if (trace.failure !== undefined) line += `,"upstreamFailure":${JSON.stringify(trace.failure)}`;
  if (featureMembers !== undefined) line += featureMembers(trace);
  if (redacted !== undefined && redacted.length > 0) line += `,"redacted":${redacted.length}`;
  if (trace.legacyAddress === true) line += ',"legacyAddress":true';
  if (trace.error !== undefined) line += `,"error":"${trace.error}"`;
  if (trace.violations.length > 0) line += violationsOf(trace, fingerprintOf);
  if (trace.cause !== undefined) line += `,"cause":${JSON.stringify(toCauseLine(trace.cause))}`;
  return line;
}

/** Returns the number of violations and their distinct fingerprints, in the order in which they were found. */
function violationsOf(trace: Trace, fingerprintOf: AccessLogOptions['fingerprintOf']): string {
  const { violations } = trace;
  const fingerprints = new Set<string>();
  for (const violation of violations) {
    if (fingerprints.size === MAX_FINGERPRINTS) break;
    fingerprints.add(fingerprintOf(trace, violation));
  }
  return `,"violations":${violations.length},"fingerprints":${JSON.stringify([...fingerprints])}`;
}

/** Returns the outcomes of all checks that did not pass, keyed by check name. */
function checksOf(trace: Trace): string {
  let found = '';
  eachVerdict(trace, (name, { outcome }) => {
    if (outcome !== 'passed') found += `${found === '' ? '' : ','}"${name}":"${outcome}"`;
  });
  return found === '' ? '' : `,"checks":{${found}}`;
}

function exchangeOf({ status, shape, seconds, attempts, requestId }: NonNullable<Trace['upstream']>): string {
  const head = status === undefined ? '' : `"status":${status},`;
  const named = requestId === undefined ? '' : `,"requestId":${JSON.stringify(requestId)}`;
  return `,"upstream":{${head}"shape":${JSON.stringify(shape)},"seconds":${rounded(seconds)},"attempts":${attempts}${named}}`;
}

// Seconds are calculated from milliseconds. Rounding to six digits removes floating-point noise.
const rounded = (seconds: number) => Math.round(seconds * 1e6) / 1e6;

/**
 * Creates a function that returns the current time in ISO 8601 format. The text is cached, because many lines are
 * written in the same millisecond.
 */
function createLogTime(clock: Clock): () => string {
  let now = Number.NaN;
  let text = '';
  return () => {
    const at = clock();
    if (at !== now) {
      now = at;
      text = new Date(at).toISOString();
    }
    return text;
  };
}

/** A log destination that collects lines for a few milliseconds and writes them in a single call. */
interface LineBatch extends DestinationStream {
  write(line: string): void;
  /** Writes all buffered lines. Call it before the process exits. */
  flush(): void;
}

/** A destination for bytes. It takes ownership of the buffers passed to it. */
interface ByteDestination {
  write(bytes: Buffer): unknown;
}

const WAIT_MS = 10;
const MAX_BYTES = 65_536;
/** The maximum number of bytes that UTF-8 needs for one UTF-16 code unit. */
const BYTES_PER_UNIT = 3;

/**
 * Creates a batch. Under load, one system call per line would cost as much as sending the response that the line
 * describes. Lines therefore wait until the buffer is full, but never longer than 10 ms. If the process is killed, at
 * most the lines from the last 10 ms are lost. Lines are buffered as bytes, so that the garbage collector does not have
 * to copy concatenated strings and all their parts. No write contains more than `maxBytes`, unless a single line is
 * longer.
 */
export function createLineBatch(sink: ByteDestination, maxBytes = MAX_BYTES): LineBatch {
  const waiting = Buffer.allocUnsafeSlow(maxBytes);
  let used = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (used === 0) return;
    const bytes = Buffer.from(waiting.subarray(0, used));
    used = 0;
    sink.write(bytes);
  };
  return {
    write(line) {
      if (used + line.length * BYTES_PER_UNIT > maxBytes) flush();
      if (line.length * BYTES_PER_UNIT > maxBytes) {
        sink.write(Buffer.from(line));
        return;
      }
      used += waiting.write(line, used);
      timer ??= setTimeout(flush, WAIT_MS);
    },
    flush,
  };
}

/** Writes bytes to a file descriptor without blocking. When the process exits, the remaining bytes are written. */
export function bytesTo(fd: number): ByteDestination {
  const stream = destination({ fd, contentMode: 'buffer' });
  // The type declaration allows only strings, but in this mode the stream accepts bytes.
  return { write: (bytes) => stream.write(bytes as unknown as string) };
}
