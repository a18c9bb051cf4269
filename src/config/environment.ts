import leven from 'leven';
import type { Fault } from '../model/fault.ts';

/** A value that takes precedence over the configuration file. */
export interface Override {
  /** The name of the variable or the flag, for messages. */
  readonly source: string;
  readonly kind: 'environment' | 'flag';
  /** The JSON pointer of the key that is set. */
  readonly pointer: string;
  readonly value: unknown;
}

/** The environment variables that Portico reads, each with the key that it sets. */
export const VARIABLES = {
  HOST: '/listen/host',
  PORT: '/listen/port',
  ADMIN_HOST: '/listen/adminHost',
  ADMIN_PORT: '/listen/adminPort',
  UPSTREAM_URL: '/upstream/url',
  UPSTREAM_USERNAME: '/upstream/credentials/username',
  UPSTREAM_PASSWORD: '/upstream/credentials/password',
  UPSTREAM_PASSWORD_FILE: '/upstream/credentials/passwordFile',
  PORTICO_MODE: '/mode',
  PORTICO_ADMIN_TOKEN: '/adminToken',
  PORTICO_ADMIN_TOKEN_FILE: '/adminTokenFile',
  PORTICO_LOG_LEVEL: '/logging/level',
  PORTICO_ROLES: '/roles/file',
  PORTICO_DB: '/reference/db',
  PORTICO_PUBLIC_BASE_PATH: '/publicBasePath',
  PORTICO_RELEASE: '/release',
  PORTICO_LEDGER: '/ledger/file',
  // Kubernetes passes the pod's name in this variable if the pod's specification says so.
  POD_NAME: '/instance',
  PORTICO_INSTANCE: '/instance',
  PORTICO_WORKERS: '/workers',
  REDIS_URL: '/redis/url',
  REDIS_URL_FILE: '/redis/urlFile',
  OTEL_SDK_DISABLED: '/tracing/disabled',
  OTEL_EXPORTER_OTLP_ENDPOINT: '/tracing/endpoint',
  OTEL_EXPORTER_OTLP_PROTOCOL: '/tracing/protocol',
  OTEL_EXPORTER_OTLP_HEADERS: '/tracing/headers',
  OTEL_SERVICE_NAME: '/tracing/serviceName',
  OTEL_RESOURCE_ATTRIBUTES: '/tracing/resourceAttributes',
  OTEL_TRACES_SAMPLER: '/tracing/sampler',
  OTEL_TRACES_SAMPLER_ARG: '/tracing/sampleRatio',
} as const;

/** The environment variables of a process, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

const NUMBERS = new Set<string>(['PORT', 'ADMIN_PORT', 'PORTICO_WORKERS', 'OTEL_TRACES_SAMPLER_ARG']);

const DISABLED = 'OTEL_SDK_DISABLED';

const valueOf = (source: string, text: string) =>
  NUMBERS.has(source) && /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : text;

/**
 * Reads the variables that are set and not empty. An invalid number remains a string, which the schema rejects later.
 */
export function readEnvironment(environment: Environment): { overrides: Override[]; faults: Fault[] } {
  const overrides: Override[] = [];
  // According to the standard, any value other than `true` means false.
  const isDisabled = environment[DISABLED]?.toLowerCase() === 'true';
  for (const [source, pointer] of Object.entries(VARIABLES)) {
    // The other standard variables are ignored, because a platform may set them for all of its programs.
    const isIgnored = isDisabled && source.startsWith('OTEL_') && source !== DISABLED;
    const text = environment[source];
    if (isIgnored || text === undefined || text === '') continue;
    const value = source === DISABLED ? isDisabled : valueOf(source, text);
    overrides.push({ source, kind: 'environment', pointer, value });
  }
  const incomplete = credentialFaults(environment);
  // An incomplete account is omitted here, because it has already been reported and would only cause further errors.
  const complete =
    incomplete.length === 0 ? overrides : overrides.filter(({ source }) => !source.startsWith('UPSTREAM_PASSWORD'));
  return {
    overrides: [...complete, ...serviceKind(complete)],
    faults: [...incomplete, ...misspelledVariables(environment)],
  };
}

// An unknown variable is reported only if its name resembles a known name, because platforms set variables with the
// same prefixes. For example, Kubernetes sets PORTICO_SERVICE_HOST.
function misspelledVariables(environment: Environment): Fault[] {
  const known = [...Object.keys(VARIABLES), 'PORTICO_CONFIG'];
  return Object.keys(environment).flatMap((source) => {
    if (!/^(?:PORTICO|UPSTREAM)_/.test(source) || known.includes(source)) return [];
    const near = known.find((name) => leven(name, source, { maxDistance: 3 }) <= 2);
    if (near === undefined) return [];
    return [{ source, pointer: '', message: 'is not a known variable', suggestion: `did you mean ${near}?` }];
  });
}

// A user name in the environment means that a service account is used.
function serviceKind(overrides: readonly Override[]): Override[] {
  const found = overrides.find((override) => override.source === 'UPSTREAM_USERNAME');
  return found === undefined ? [] : [{ ...found, pointer: '/upstream/credentials/kind', value: 'service' }];
}

function credentialFaults(environment: Environment): Fault[] {
  // A user name without a password is not an error, because the password may be in the configuration file.
  if (environment['UPSTREAM_USERNAME']) return [];
  return ['UPSTREAM_PASSWORD', 'UPSTREAM_PASSWORD_FILE']
    .filter((source) => environment[source])
    .map((source) => {
      const message = 'is set without UPSTREAM_USERNAME';
      return { source, pointer: '', message, suggestion: 'set UPSTREAM_USERNAME too' };
    });
}
