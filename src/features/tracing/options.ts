import { type Static, Type } from 'typebox';
import type { ConfigProblem } from '../../engine/config/settings.ts';
import type { Sampling } from '../../engine/telemetry/trace-context.ts';
import { readSecretFile } from '../../lib/secret-file.ts';

const PAIRS = 'name=value pairs, separated by commas; characters in values may be percent-encoded';

/** The options under the `tracing` configuration key. `headersFile` is an absolute path. */
export const options = Type.Object(
  {
    disabled: Type.Boolean({
      default: false,
      description:
        'Whether export is turned off even though an endpoint is set. With OTEL_SDK_DISABLED=true, all other OTEL_ variables are ignored, too.',
    }),
    endpoint: Type.Optional(
      Type.String({
        pattern: '^https?://[A-Za-z0-9._~:/\\[\\]-]+$',
        description:
          'Base URL of the OTLP receiver, to which /v1/traces is added, without credentials and query, for example http://collector:4318. Without it, no spans are exported.',
      }),
    ),
    protocol: Type.Enum(['http/protobuf'], {
      default: 'http/protobuf',
      description: 'Protocol of the receiver.',
    }),
    headers: Type.Optional(
      Type.String({
        minLength: 1,
        description: `Headers for the receiver, such as an API key: ${PAIRS}.`,
      }),
    ),
    headersFile: Type.Optional(
      Type.String({ minLength: 1, description: 'File whose first line contains the headers.' }),
    ),
    serviceName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          'The resource attribute `service.name`; by default, the one in `resourceAttributes`, or `portico`.',
      }),
    ),
    resourceAttributes: Type.String({
      default: '',
      description: `Additional resource attributes: ${PAIRS}.`,
    }),
    // The names of the standard samplers, as in the `OTEL_TRACES_SAMPLER` variable.
    sampler: Type.Enum(
      [
        'always_on',
        'always_off',
        'traceidratio',
        'parentbased_always_on',
        'parentbased_always_off',
        'parentbased_traceidratio',
      ],
      {
        default: 'parentbased_traceidratio',
        description:
          'Which traces are exported: `always_on`, `always_off`, `traceidratio`, or one of these after `parentbased_`; see docs/tracing.md#sampling.',
      },
    ),
    sampleRatio: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 1,
      description: 'Fraction (0 to 1) of traces that the `traceidratio` samplers export.',
    }),
    followSampled: Type.Enum(['trustedProxies', 'everyone'], {
      default: 'trustedProxies',
      description:
        'Whose `sampled` flag the `parentbased` samplers follow: `trustedProxies` (those of `listen.trustedProxies`) or `everyone`.',
    }),
    exportSeconds: Type.Number({
      minimum: 0.01,
      maximum: 60,
      default: 5,
      description: 'How long spans are collected before they are exported together.',
    }),
    maxQueuedSpans: Type.Integer({
      minimum: 1,
      maximum: 65_536,
      default: 2048,
      description: 'Number of spans that may wait to be exported; further spans are dropped and counted.',
    }),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'Export of OpenTelemetry spans (docs/tracing.md).',
  },
);

/** The options under the `tracing` configuration key. */
export type TracingOptions = Static<typeof options>;

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

/** Returns the errors that the schema cannot detect. They never include the values, because these may be secrets. */
export function tracingProblems(given: TracingOptions): readonly ConfigProblem[] {
  const headers = headersOf(given);
  const { headers: inline, headersFile, resourceAttributes } = given;
  const problems: ConfigProblem[] = [];
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
