import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BatchSpanProcessor, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { packageRoot, packageVersion } from '../../lib/package-root.ts';
import { type Fault, StartFault } from '../../engine/model/fault.ts';
import type { Trace } from '../../engine/model/trace.ts';
import { createSpans, type SpanOrigin, type SpanSubject } from './request-spans.ts';
import { headersOf, parsePairs, type TracingOptions } from './options.ts';
import { trimEndOf } from '../../lib/trim-end.ts';

/** Exports the spans of finished requests to an OTLP receiver. It never delays a request. */
export interface TraceExporter {
  /**
   * Loads the SDK, if this has not been done. Until then, no spans are exported. Throws a `StartFault` if its packages
   * are not installed.
   */
  open(): Promise<void>;
  /** Returns the function that exports the spans of each finished request. */
  recorder(subject: SpanSubject): (trace: Trace) => void;
  /**
   * The number of spans since startup, by outcome. `failed` spans were sent but not accepted by the receiver. `dropped`
   * spans were not sent, because too many were waiting or the process ended.
   */
  counts(): Readonly<Record<SpanOutcome, number>>;
  /** Exports the remaining spans. Takes at most `graceMs` milliseconds. */
  close(graceMs: number): Promise<void>;
}

/** The outcomes of exporting a span. */
export const SPAN_OUTCOMES = ['exported', 'failed', 'dropped'] as const;

type SpanOutcome = (typeof SPAN_OUTCOMES)[number];

interface ExporterParts {
  /** The name that distinguishes this gateway from its replicas, used as `service.instance.id`. */
  readonly instance: string;
  readonly logger: Logger;
  /** The setting that turns tracing on. Configuration errors refer to this setting. */
  readonly place: Pick<Fault, 'source' | 'pointer'>;
  /** The maximum duration of an export, including retries. */
  readonly timeoutMs: number;
}

type ExportResult = Parameters<Parameters<SpanExporter['export']>[1]>[0];

// The value of `ExportResultCode.SUCCESS` in @opentelemetry/core. That package is not loaded at startup.
const SUCCESS: ExportResult['code'] = 0;
const BATCH = 512;

/** Creates the exporter. `open` loads the SDK. */
export function createTraceExporter(
  options: TracingOptions,
  { instance, logger, place, timeoutMs }: ExporterParts,
): TraceExporter {
  const counts = { exported: 0, failed: 0, dropped: 0 };
  let waiting = 0;
  let sending = 0;
  let processor: BatchSpanProcessor | undefined;
  let origin: SpanOrigin | undefined;
  const log = createExportLog(logger);

  /** Counts the spans that an exporter receives and ends every export after a fixed time. */
  const counted = (exporter: SpanExporter): SpanExporter => ({
    export(spans, done) {
      waiting -= spans.length;
      sending += spans.length;
      let isDone = false;
      const end = (result: ExportResult) => {
        if (isDone) return;
        isDone = true;
        clearTimeout(timer);
        sending -= spans.length;
        const isExported = result.code === SUCCESS;
        counts[isExported ? 'exported' : 'failed'] += spans.length;
        log(isExported ? undefined : (result.error ?? new Error('the export failed')));
        done(result);
      };
      // The exporter's own limit applies only to pauses. Without this second limit, a slow receiver could prolong an
      // export indefinitely.
      const timer = setTimeout(() => end({ code: 1, error: new Error('the export took too long') }), 2 * timeoutMs);
      timer.unref();
      exporter.export(spans, end);
    },
    shutdown: () => exporter.shutdown(),
  });

  return {
    async open() {
      if (processor !== undefined) return;
      const { sdk, resources, otlp } = await loadSdk().catch((error: unknown) => {
        throw missingPackage(error, place) ?? error;
      });
      origin = {
        resource: resources.defaultResource().merge(resources.resourceFromAttributes(resourceOf(options, instance))),
        instrumentationScope: { name: 'portico', version: packageVersion() },
      };
      const headers = headersOf(options);
      const batches = Math.ceil(options.maxQueuedSpans / BATCH);
      const exporter = new otlp.OTLPTraceExporter({
        url: `${trimEndOf(options.endpoint ?? '', '/')}/v1/traces`,
        headers: 'headers' in headers ? { ...headers.headers } : {},
        timeoutMillis: timeoutMs,
        // When the gateway closes, all batches are sent at the same time.
        concurrencyLimit: batches + 2,
      });
      processor = new sdk.BatchSpanProcessor({
        exporter: counted(exporter),
        maxQueueSize: options.maxQueuedSpans,
        maxExportBatchSize: Math.min(BATCH, options.maxQueuedSpans),
        scheduledDelayMillis: options.exportSeconds * 1000,
      });
    },
    recorder(subject) {
      let spansOf: ReturnType<typeof createSpans> | undefined;
      return (trace) => {
        if (processor === undefined || origin === undefined) return;
        spansOf ??= createSpans(subject, origin);
        for (const span of spansOf(trace)) {
          // The processor could also drop spans, but it would not report how many.
          if (waiting >= options.maxQueuedSpans) counts.dropped += 1;
          else {
            waiting += 1;
            processor.onEnd(span);
          }
        }
      };
    },
    counts: () => counts,
    async close(graceMs) {
      const closing = processor;
      processor = undefined;
      if (closing === undefined) return;
      const given = new AbortController();
      const flushed = closing.shutdown().catch(() => undefined);
      await Promise.race([flushed, delay(graceMs, undefined, { signal: given.signal }).catch(() => undefined)]);
      given.abort();
      // The remaining exports might still succeed, but the process will end before their outcome is known.
      counts.dropped += waiting + sending;
    },
  };
}

/** Loads the packages of the SDK. */
async function loadSdk() {
  const [sdk, resources, otlp] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
  ]);
  return { sdk, resources, otlp };
}

/** Returns the configuration error for a package that is not installed, or undefined for any other error. */
function missingPackage(error: unknown, place: ExporterParts['place']): StartFault | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  const name = /@opentelemetry\/[\w-]+/.exec(error.message)?.[0];
  if (name === undefined) return undefined;
  const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const own = Object.entries(manifest.dependencies).filter(([one]) => one.startsWith('@opentelemetry/'));
  const packages = own.map(([one, version]) => `${one}@${version}`);
  const message = `requires the package ${name}, which is not installed`;
  return new StartFault([{ ...place, message, suggestion: `npm install ${packages.join(' ')}` }]);
}

function resourceOf(
  { serviceName, resourceAttributes }: TracingOptions,
  instance: string,
): Readonly<Record<string, string>> {
  return {
    'service.name': 'portico',
    'service.version': packageVersion(),
    'service.instance.id': instance,
    ...parsePairs(resourceAttributes),
    ...(serviceName === undefined ? {} : { 'service.name': serviceName }),
  };
}

/** Returns a function that logs when exports begin to fail and when they recover. */
function createExportLog(logger: Logger): (error: Error | undefined) => void {
  let isFailing = false;
  return (error) => {
    if ((error !== undefined) === isFailing) return;
    isFailing = error !== undefined;
    if (error === undefined) logger.info('spans are exported again');
    else logger.warn({ reason: reasonOf(error) }, 'spans cannot be exported: some of them will be lost');
  };
}

/** Returns an error's status or code. The message is not logged, because it can contain the receiver's response. */
function reasonOf(error: Error): string {
  const code = 'code' in error ? error.code : undefined;
  if (typeof code === 'number') return `status ${code}`;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,79}$/.test(code) ? code : error.name;
}
