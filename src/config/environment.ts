import leven from 'leven';
import type { Fault } from '../model/fault.ts';

/** A value that wins over the file: where it comes from and which key it sets. */
export interface Override {
  /** The variable or the flag, as it is named to people. */
  readonly source: string;
  readonly kind: 'environment' | 'flag';
  /** JSON pointer of the key. */
  readonly pointer: string;
  readonly value: unknown;
}

/** The environment variables that Portico reads, and the key that each one sets. */
export const VARIABLES = {
  HOST: '/listen/host',
  PORT: '/listen/port',
  ADMIN_HOST: '/listen/adminHost',
  ADMIN_PORT: '/listen/adminPort',
  UPSTREAM_URL: '/upstream/url',
  UPSTREAM_USERNAME: '/upstream/credentials/username',
  UPSTREAM_PASSWORD: '/upstream/credentials/password',
  PORTICO_MODE: '/mode',
  PORTICO_ADMIN_TOKEN: '/adminToken',
  PORTICO_LOG_LEVEL: '/logging/level',
  PORTICO_ROLES: '/roles/file',
  PORTICO_DB: '/reference/db',
  PORTICO_PUBLIC_BASE_PATH: '/publicBasePath',
  PORTICO_RELEASE: '/release',
  PORTICO_LEDGER: '/ledger/file',
} as const;

/** Variables of a process by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

const NUMBERS = new Set<string>(['PORT', 'ADMIN_PORT']);

/** Reads the variables that are set and not empty; numbers are converted, what is none stays text and is refused later. */
export function readEnvironment(environment: Environment): { overrides: Override[]; faults: Fault[] } {
  const overrides: Override[] = [];
  for (const [source, pointer] of Object.entries(VARIABLES)) {
    const text = environment[source];
    if (text === undefined || text === '') continue;
    const value = NUMBERS.has(source) && /^\d{1,9}$/.test(text) ? Number(text) : text;
    overrides.push({ source, kind: 'environment', pointer, value });
  }
  const halves = credentialFaults(environment);
  // Half an account is told once, and not again by every rule that it breaks.
  const whole = halves.length === 0 ? overrides : overrides.filter(({ source }) => source !== 'UPSTREAM_PASSWORD');
  return {
    overrides: [...whole, ...serviceKind(whole)],
    faults: [...halves, ...misspelt(environment)],
  };
}

// Only near misses: platforms put variables of their own beside ours (PORTICO_SERVICE_HOST in Kubernetes).
function misspelt(environment: Environment): Fault[] {
  const known = [...Object.keys(VARIABLES), 'PORTICO_CONFIG'];
  return Object.keys(environment).flatMap((source) => {
    if (!/^(?:PORTICO|UPSTREAM)_/.test(source) || known.includes(source)) return [];
    const near = known.find((name) => leven(name, source, { maxDistance: 3 }) <= 2);
    if (near === undefined) return [];
    return [
      { source, pointer: '', message: 'is not a variable that Portico reads', suggestion: `did you mean ${near}?` },
    ];
  });
}

// Naming a service account is choosing it.
function serviceKind(overrides: readonly Override[]): Override[] {
  const found = overrides.find((override) => override.source === 'UPSTREAM_USERNAME');
  return found === undefined ? [] : [{ ...found, pointer: '/upstream/credentials/kind', value: 'service' }];
}

function credentialFaults(environment: Environment): Fault[] {
  const pair = ['UPSTREAM_USERNAME', 'UPSTREAM_PASSWORD'] as const;
  const missing = pair.filter((name) => !environment[name]);
  if (missing.length !== 1) return [];
  const [other = ''] = missing;
  // The file may hold the other half.
  if (other === 'UPSTREAM_PASSWORD') return [];
  return [
    { source: 'UPSTREAM_PASSWORD', pointer: '', message: `is set without ${other}`, suggestion: `set ${other} too` },
  ];
}
