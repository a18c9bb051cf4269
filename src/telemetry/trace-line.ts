import { CHECK_NAMES } from '../model/checks.ts';
import type { Trace } from '../model/trace.ts';
import { toCauseLine, type CauseLine } from '../privacy/cause-line.ts';
import { safePath } from '../privacy/path-text.ts';
import { UNDOCUMENTED } from './label-values.ts';

/** Facts of a request that the trace does not hold. */
export interface LineFacts {
  /** The operation's path template; undefined for undocumented paths. */
  readonly template?: string | undefined;
  /** The target as it came, used only for undocumented paths and only by its shape. */
  readonly target?: string | undefined;
  /** The caller as it may be shown: a tag, or the name where the configuration says so. */
  readonly caller?: string | undefined;
}

/** One line of the access log, as data. */
export interface TraceLine {
  readonly requestId: string;
  readonly traceId: string;
  readonly operation: string;
  readonly method: string;
  readonly path?: string;
  readonly route?: string;
  readonly status: number;
  readonly seconds?: number;
  readonly bytes?: number;
  readonly principal?: string;
  readonly caller?: string;
  /** Checks that did anything but pass, as `name: outcome`. */
  readonly checks?: Readonly<Record<string, string>>;
  readonly cache?: string;
  readonly upstream?: {
    readonly status?: number;
    readonly shape: string;
    readonly seconds: number;
    readonly attempts: number;
    readonly requestId?: string;
  };
  readonly redacted?: number;
  /** True where the body names the legacy server by an absolute address (rules, 11). */
  readonly legacyAddress?: true;
  readonly error?: string;
  readonly violations?: number;
  readonly cause?: CauseLine;
}

/** Turns a trace into its log line: names, numbers and codes only, nothing that was sent or answered. */
export function traceLine(trace: Trace, facts: LineFacts = {}): TraceLine {
  const path = facts.template ?? (facts.target === undefined ? undefined : safePath(facts.target));
  const checks = checksOf(trace);
  const { upstream } = trace;
  return {
    requestId: trace.requestId,
    traceId: trace.traceparent.slice(3, 35),
    operation: trace.operation ?? UNDOCUMENTED,
    method: trace.method,
    ...(path !== undefined && { path }),
    ...(trace.route !== undefined && { route: trace.route }),
    status: trace.status ?? 0,
    ...(trace.seconds !== undefined && { seconds: rounded(trace.seconds) }),
    ...(trace.bytes !== undefined && { bytes: trace.bytes }),
    ...(trace.authentication !== undefined && { principal: trace.authentication.principal }),
    ...(facts.caller !== undefined && { caller: facts.caller }),
    ...(checks !== undefined && { checks }),
    ...(trace.cache !== undefined && { cache: trace.cache.status }),
    ...(upstream !== undefined && {
      upstream: {
        ...(upstream.status !== undefined && { status: upstream.status }),
        shape: upstream.shape,
        seconds: rounded(upstream.seconds),
        attempts: upstream.attempts,
        ...(upstream.requestId !== undefined && { requestId: upstream.requestId }),
      },
    }),
    ...(trace.redacted !== undefined && trace.redacted.length > 0 && { redacted: trace.redacted.length }),
    ...(trace.legacyAddress === true && { legacyAddress: true }),
    ...(trace.error !== undefined && { error: trace.error }),
    ...(trace.violations.length > 0 && { violations: trace.violations.length }),
    ...(trace.cause !== undefined && { cause: toCauseLine(trace.cause) }),
  };
}

function checksOf(trace: Trace): Record<string, string> | undefined {
  let found: Record<string, string> | undefined;
  for (const name of CHECK_NAMES) {
    const verdict = trace[name];
    if (verdict !== undefined && verdict.outcome !== 'passed') (found ??= {})[name] = verdict.outcome;
  }
  return found;
}

const rounded = (seconds: number) => Math.round(seconds * 1e6) / 1e6;
