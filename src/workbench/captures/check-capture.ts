import { randomUUID } from 'node:crypto';
import type { Contract } from '../../engine/contract/load-contract.ts';
import { createTrace, toVerdict, type Trace } from '../../engine/model/trace.ts';
import { isAdvisory } from '../../engine/model/violation.ts';
import { traceContext } from '../../engine/telemetry/trace-context.ts';
import { type JsonLimits, parseBounded, parsedValue } from '../../lib/bounded-json.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CapturedExchange, Unreadable } from './read-capture.ts';

/** Why an exchange in a recording says nothing about the server. */
export type NotChecked =
  'too large' | 'not a request' | 'not in the contract' | 'no response' | 'no body recorded' | 'not modified';

/** What a recording has shown. `checked` and the reasons add up to `exchanges`. */
export interface CaptureSummary {
  readonly exchanges: number;
  readonly checked: number;
  readonly notChecked: ReadonlyMap<NotChecked, number>;
  /** The number of checked responses of each operation. */
  readonly operations: ReadonlyMap<string, number>;
  /** True if a signal ended the reading. */
  readonly isInterrupted: boolean;
}

interface CheckCaptureParts {
  readonly contract: Contract;
  readonly clock: Clock;
  readonly jsonLimits: JsonLimits;
  readonly signal: AbortSignal;
  /** Receives the trace of each exchange whose response was checked. */
  readonly record: (trace: Trace) => void;
  readonly onProgress: (exchanges: number) => void;
  /** Waits until what was recorded has been written, so that it does not pile up. */
  readonly flush: () => Promise<void>;
}

const FLUSH_EVERY = 1_000;

/**
 * Checks the requests and responses of a recording against the contract. A response without its body is not checked, and
 * is counted as such: silence must not look like success.
 */
export async function checkCapture(
  exchanges: AsyncIterable<CapturedExchange | Unreadable>,
  { contract, clock, jsonLimits, signal, record, onProgress, flush }: CheckCaptureParts,
): Promise<CaptureSummary> {
  let count = 0;
  let checked = 0;
  const notChecked = new Map<NotChecked, number>();
  const operations = new Map<string, number>();
  for await (const exchange of exchanges) {
    if (signal.aborted) break;
    count += 1;
    onProgress(count);
    const result = checkOne(exchange, { contract, clock, jsonLimits });
    if (typeof result === 'string') notChecked.set(result, (notChecked.get(result) ?? 0) + 1);
    else {
      checked += 1;
      const operation = result.operation ?? '';
      operations.set(operation, (operations.get(operation) ?? 0) + 1);
      record(result);
    }
    if (count % FLUSH_EVERY === 0) await flush();
  }
  return { exchanges: count, checked, notChecked, operations, isInterrupted: signal.aborted };
}

function checkOne(
  exchange: CapturedExchange | Unreadable,
  { contract, clock, jsonLimits }: Pick<CheckCaptureParts, 'contract' | 'clock' | 'jsonLimits'>,
): Trace | NotChecked {
  if ('unreadable' in exchange) return exchange.unreadable;
  const { method, target, response } = exchange;
  const mark = target.indexOf('?');
  const match = contract.match(mark < 0 ? target : target.slice(0, mark));
  const operation = match?.byMethod.get(method);
  if (match === undefined || operation === undefined) return 'not in the contract';
  if (response === undefined) return 'no response';
  if (response.status === 304) return 'not modified';
  if (response.body === undefined) return 'no body recorded';
  const { values, violations, reported } = contract.decodeParameters(
    operation,
    match,
    mark < 0 ? undefined : target.slice(mark + 1),
  );
  const findings = contract.checkResponse(operation, values, {
    status: response.status,
    mediaType: response.mediaType,
    isEmpty: response.body.length === 0,
    json: parsedValue(parseBounded(response.body, jsonLimits)),
    bytes: response.body,
  });
  const trace = createTrace({
    requestId: `capture-${randomUUID()}`,
    traceparent: traceContext({}).traceparent,
    method,
    startedAt: clock(),
  });
  trace.operation = operation.id;
  trace.status = response.status;
  trace.upstream = { status: response.status, shape: 'recorded', seconds: 0, attempts: 1 };
  trace.requests = toVerdict('report', violations);
  trace.responses = {
    ...toVerdict(
      'report',
      findings.violations.filter((one) => !isAdvisory(one)),
    ),
    verdict: findings.verdict,
    ...(findings.reason !== undefined && { reason: findings.reason }),
    ...(findings.verdict === 'skipped' && { outcome: 'skipped' as const }),
  };
  trace.violations.push(...violations, ...reported, ...findings.violations, ...findings.reported);
  return trace;
}
