import type { Feature, FeatureContext } from '../../engine/feature.ts';
import { publicOriginOf } from '../../engine/model/arrival.ts';
import { isClearAndPublic } from '../../lib/network-address.ts';
import { exportsSpans, options, samplingOf, type TracingOptions, tracingProblems } from './options.ts';
import type { SpanSubject } from './request-spans.ts';
import { createTraceExporter, SPAN_OUTCOMES } from './trace-exporter.ts';

const SPANS = {
  name: 'portico_trace_spans_total',
  type: 'counter',
  labels: ['outcome'],
  help: 'Spans for the OTLP receiver: exported, failed (not accepted) or dropped (too many were waiting); 0 without tracing.',
} as const;

/** The standard variables of OpenTelemetry that Portico reads, each with the option that it sets. */
const VARIABLES = {
  OTEL_SDK_DISABLED: 'disabled',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'endpoint',
  OTEL_EXPORTER_OTLP_PROTOCOL: 'protocol',
  OTEL_EXPORTER_OTLP_HEADERS: 'headers',
  OTEL_SERVICE_NAME: 'serviceName',
  OTEL_RESOURCE_ATTRIBUTES: 'resourceAttributes',
  OTEL_TRACES_SAMPLER: 'sampler',
  OTEL_TRACES_SAMPLER_ARG: 'sampleRatio',
} as const;

/** The maximum and minimum export timeouts, in milliseconds. */
const EXPORT_MS = { max: 10_000, min: 1_000 };

/** Exports the spans of finished requests to an OTLP receiver (docs/tracing.md). */
export const tracing = {
  name: 'tracing',
  options,
  needsRestart: true,
  metrics: [SPANS],
  secretOptions: ['headers'],
  files: { headersFile: 'secret' },
  // If tracing is disabled, the other variables are ignored, because a platform may set them for all of its programs.
  variables: ({ OTEL_SDK_DISABLED }) =>
    OTEL_SDK_DISABLED?.toLowerCase() === 'true' ? { OTEL_SDK_DISABLED: 'disabled' } : VARIABLES,
  check: tracingProblems,
  warn: (given) =>
    exportsSpans(given)
      ? []
      : ['headersFile', 'sampler', 'sampleRatio', 'followSampled'].map((key) => ({
          pointer: `/tracing/${key}`,
          because: 'no spans are exported (tracing.endpoint, tracing.disabled)',
        })),
  auditRules: [
    {
      id: 'clients-choose-sampling',
      severity: 'low',
      key: '/tracing/followSampled',
      risk: 'Any client can have all its requests exported, which costs storage, or none of them, which hides them.',
      fix: 'Set it to trustedProxies, and list the proxies that start traces in listen.trustedProxies.',
      find: (given) => (exportsSpans(given) && samplingOf(given).follow === 'everyone' ? ['everyone'] : []),
    },
    {
      id: 'spans-in-the-clear',
      severity: 'medium',
      key: '/tracing/endpoint',
      risk: 'Spans and the headers for the OTLP receiver, such as an API key, cross a public network unencrypted.',
      fix: 'Use https, or a receiver inside a private network.',
      find: ({ disabled, endpoint }) =>
        !disabled && endpoint !== undefined && isClearAndPublic(endpoint) ? [new URL(endpoint).origin] : [],
    },
  ],
  sampling: (given) => (exportsSpans(given) ? samplingOf(given) : undefined),
  dependsOn: ({ publicBasePath, publicOrigin, upstream: { url } }) => [publicBasePath, publicOrigin, url],
  start(context) {
    const { options: given, settings, instance, logger, metrics, lasting } = context;
    if (!exportsSpans(given)) {
      metrics.read(SPANS, () => SPAN_OUTCOMES.map((outcome) => [[outcome], 0]));
      return undefined;
    }
    // An export in progress at shutdown must finish before the shutdown is complete.
    const timeoutMs = Math.max(EXPORT_MS.min, Math.min(EXPORT_MS.max, settings.listen.drainSeconds * 1000));
    const place = settings.placeOf('/tracing/endpoint');
    const exporter = lasting(
      () => createTraceExporter(given, { instance, logger, place, timeoutMs }),
      (opened, graceMs) => opened.close(graceMs),
    );
    metrics.read(SPANS, () => SPAN_OUTCOMES.map((outcome) => [[outcome], exporter.counts()[outcome]]));
    return { open: exporter.open, finished: exporter.recorder(spanSubject(context)) };
  },
} as const satisfies Feature<typeof options>;

/** Returns the data for span attributes whose values do not come from a trace. */
function spanSubject({ settings, operations, address }: FeatureContext<TracingOptions>): SpanSubject {
  const { profile, publicBasePath, publicOrigin, listen } = settings;
  const origin = publicOriginOf(publicOrigin);
  return {
    operations,
    pathWords: profile.pathWords,
    publicBasePath,
    scheme: origin?.protocol === 'https' || listen.tls !== undefined ? 'https' : 'http',
    publicHost: origin?.host,
    upstreamUrl: `${address.origin}${address.basePath}`,
  };
}
