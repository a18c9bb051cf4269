import type { Logger } from 'pino';
import type { Clock } from '../lib/clock.ts';
import type { Settings } from './config/settings.ts';
import { createTraceRecorder } from './http/public-handler.ts';
import type { Start } from './load-start.ts';
import type { Trace } from './model/trace.ts';
import type { KindOf } from './model/violation-kind.ts';
import { toCauseLine } from './privacy/cause-line.ts';
import type { createNameTag } from './privacy/describe-value.ts';
import type { RunningFeatures } from './run-features.ts';
import { createAccessLog } from './telemetry/logs.ts';
import type { Metrics } from './telemetry/metrics.ts';
import type { LogOutput } from './telemetry/services.ts';

interface RecorderNeeds {
  readonly settings: Settings;
  readonly start: Pick<Start, 'contract'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly logOutput: LogOutput;
  readonly kindOf: KindOf;
  readonly nameTag: ReturnType<typeof createNameTag>;
  readonly metrics: Metrics;
}

/** Returns the function that passes each trace to the metrics, the features and the access log. */
export function openTraceRecorder(
  { settings, start, clock, logger, logOutput, kindOf, nameTag, metrics }: RecorderNeeds,
  features: RunningFeatures,
): (trace: Trace) => void {
  const accessLog = createAccessLog({
    operations: start.contract.operations,
    pathWords: settings.profile.pathWords,
    level: settings.logging.level,
    principalNames: settings.logging.principalNames,
    clock,
    stream: logOutput.stream,
    nameTag,
    featureMembers: features.logMembers,
    fingerprintOf: (trace, violation) => kindOf(trace.operation, trace.upstream?.status, violation).fingerprint,
  });
  const observers = [
    { name: 'metrics', record: metrics.record },
    ...features.observers,
    { name: 'access log', record: accessLog.record },
  ];
  return createTraceRecorder(observers, (observer, error) =>
    logger.error({ observer, cause: toCauseLine(error) }, 'a trace could not be recorded'),
  );
}
