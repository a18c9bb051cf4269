import { readSecretFile } from '../../lib/secret-file.ts';
import type { Sampling } from '../../engine/telemetry/trace-context.ts';

/** The names of the standard samplers, as in the `OTEL_TRACES_SAMPLER` variable. */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** The value of the `tracing` configuration key, including all defaults. */
export interface TracingOptions {
  /** If true, spans are not exported, even if an endpoint is set. */
  readonly disabled: boolean;
  /** The base URL of the OTLP receiver. `/v1/traces` is appended to it. Undefined if no spans are exported. */
  readonly endpoint: string | undefined;
  /** The protocol of the receiver. */
  readonly protocol: 'http/protobuf';
  /** Additional headers for the receiver, in the format of `OTEL_EXPORTER_OTLP_HEADERS`. They are secret. */
  readonly headers: string | undefined;
  /** The absolute path of a file whose first line contains the headers. */
  readonly headersFile: string | undefined;
  /**
   * The resource attribute `service.name`. If undefined, the name in the resource attributes is used or, if there is
   * none, `portico`.
   */
  readonly serviceName: string | undefined;
  /** Additional attributes of the resource, in the format of `OTEL_RESOURCE_ATTRIBUTES`. */
  readonly resourceAttributes: string;
  readonly sampler: (typeof SAMPLERS)[number];
  /** The fraction of traces to sample, from 0 to 1. Used by the samplers whose names end with `traceidratio`. */
  readonly sampleRatio: number;
  /** The callers whose `sampled` flag is honored. Used by the samplers whose names begin with `parentbased`. */
  readonly followSampled: Exclude<Sampling['follow'], 'nobody'>;
  /** The maximum time that spans wait to be exported in a batch, in seconds. */
  readonly exportSeconds: number;
  /** The maximum number of spans that can wait to be exported. Additional spans are dropped. */
  readonly maxQueuedSpans: number;
}

/** The defaults for the `tracing` configuration key. */
export const TRACING_DEFAULTS: TracingOptions = {
  disabled: false,
  endpoint: undefined,
  protocol: 'http/protobuf',
  headers: undefined,
  headersFile: undefined,
  serviceName: undefined,
  resourceAttributes: '',
  sampler: 'parentbased_traceidratio',
  sampleRatio: 1,
  followSampled: 'trustedProxies',
  exportSeconds: 5,
  maxQueuedSpans: 2048,
};

const PAIRS = 'name=value pairs, separated by commas; characters in values may be percent-encoded';

/** The JSON Schema for the `tracing` configuration key. */
export const tracingOptionsSchema = {
  type: 'object',
  description: 'Export of OpenTelemetry spans (docs/tracing.md).',
  additionalProperties: false,
  properties: {
    disabled: {
      type: 'boolean',
      description: 'Whether export is turned off even though an endpoint is set; OTEL_SDK_DISABLED.',
    },
    endpoint: {
      type: 'string',
      pattern: '^https?://[A-Za-z0-9._~:/\\[\\]-]+$',
      description:
        'Base URL of the OTLP receiver, to which /v1/traces is added, without credentials and query, for example http://collector:4318; OTEL_EXPORTER_OTLP_ENDPOINT.',
    },
    protocol: {
      enum: ['http/protobuf'],
      description: 'Protocol of the receiver; OTEL_EXPORTER_OTLP_PROTOCOL.',
    },
    headers: {
      type: 'string',
      minLength: 1,
      description: `Headers for the receiver, such as an API key: ${PAIRS}; OTEL_EXPORTER_OTLP_HEADERS.`,
    },
    headersFile: {
      type: 'string',
      minLength: 1,
      description: 'A file whose first line contains the headers.',
    },
    serviceName: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description: 'The resource attribute service.name; OTEL_SERVICE_NAME.',
    },
    resourceAttributes: {
      type: 'string',
      description: `Additional resource attributes: ${PAIRS}; OTEL_RESOURCE_ATTRIBUTES.`,
    },
    sampler: { enum: SAMPLERS, description: 'Which traces are exported; OTEL_TRACES_SAMPLER.' },
    sampleRatio: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'Fraction of traces that the traceidratio samplers export; OTEL_TRACES_SAMPLER_ARG.',
    },
    followSampled: {
      enum: ['trustedProxies', 'everyone'],
      description:
        "Whose sampled flag the parentbased samplers follow: only the flags from listen.trustedProxies, or everyone's.",
    },
    exportSeconds: {
      type: 'number',
      minimum: 0.01,
      maximum: 60,
      description: 'How long spans are collected before they are exported together.',
    },
    maxQueuedSpans: {
      type: 'integer',
      minimum: 1,
      maximum: 65_536,
      description: 'Number of spans that may wait to be exported; further spans are dropped and counted.',
    },
  },
};

/** Returns whether spans are exported. */
export function exportsSpans({ disabled, endpoint }: TracingOptions): boolean {
  return !disabled && endpoint !== undefined;
}

/** Determines which traces to sample, based on the configured sampler. */
export function samplingOf({ sampler, sampleRatio, followSampled }: TracingOptions): Sampling {
  const isParentBased = sampler.startsWith('parentbased_');
  const ratio = sampler.endsWith('always_on') ? 1 : sampler.endsWith('always_off') ? 0 : sampleRatio;
  return { ratio, follow: isParentBased ? followSampled : 'nobody' };
}

/** An invalid value of the `tracing` key. The value itself is never included, because it may be a secret. */
interface TracingProblem {
  readonly pointer: string;
  readonly message: string;
  readonly suggestion?: string;
}

/** Returns the errors that the schema cannot detect. */
export function tracingProblems(options: TracingOptions): readonly TracingProblem[] {
  const headers = headersOf(options);
  const { headers: inline, headersFile, resourceAttributes } = options;
  const problems: TracingProblem[] = [];
  if (inline !== undefined && headersFile !== undefined)
    problems.push({ pointer: '/tracing/headersFile', message: 'is set in addition to headers; set only one' });
  else if ('fault' in headers)
    problems.push({
      pointer: inline === undefined ? '/tracing/headersFile' : '/tracing/headers',
      message: headers.fault,
    });
  if (parsePairs(resourceAttributes) === undefined)
    problems.push({ pointer: '/tracing/resourceAttributes', message: NOT_PAIRS, suggestion: 'name=value,name=value' });
  return problems;
}

const NOT_PAIRS = 'does not consist of name=value pairs that are separated by commas';

/** Returns the headers for the receiver, or the configuration error in them. */
export function headersOf({
  headers,
  headersFile,
}: Pick<TracingOptions, 'headers' | 'headersFile'>):
  { readonly headers: Readonly<Record<string, string>> } | { readonly fault: string } {
  let text = headers ?? '';
  if (headers === undefined && headersFile !== undefined) {
    const reading = readSecretFile(headersFile);
    if ('fault' in reading) return reading;
    ({ text } = reading);
  }
  const pairs = parsePairs(text);
  if (pairs === undefined) return { fault: NOT_PAIRS };
  const isValid = Object.entries(pairs).every(([name, value]) => HEADER_NAME.test(name) && HEADER_VALUE.test(value));
  return isValid ? { headers: pairs } : { fault: 'contains a header that cannot be sent' };
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const HEADER_VALUE = /^[\t\u0020-\u007e]*$/;

/**
 * Parses pairs in the W3C Baggage format, which the standard environment variables use. Returns undefined if the input
 * is invalid.
 */
export function parsePairs(text: string): Readonly<Record<string, string>> | undefined {
  const pairs: [string, string][] = [];
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(0, at)).trim();
    if (name === '') return undefined;
    try {
      pairs.push([decodeURIComponent(name), decodeURIComponent(part.slice(at + 1).trim())]);
    } catch {
      return undefined;
    }
  }
  return Object.fromEntries(pairs);
}
