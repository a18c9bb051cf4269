import { describe, expect, it } from 'vitest';
import { configSchema } from '../src/engine/config/config-schema.ts';
import { PORTICO } from '../src/portico-settings.ts';
import { isPlainObject } from '../src/lib/plain-object.ts';
import type { PorticoConfig } from '../src/portico.ts';

type Keys<Name extends keyof PorticoConfig> = Record<keyof NonNullable<PorticoConfig[Name]>, true>;

// The compiler refuses a list that does not have exactly the keys of the type, and the test compares it with the schema.
const TOP: Record<keyof PorticoConfig, true> = {
  mode: true,
  checks: true,
  errors: true,
  publicBasePath: true,
  publicOrigin: true,
  listen: true,
  cors: true,
  cutover: true,
  changes: true,
  deprecation: true,
  adminToken: true,
  auditTrail: true,
  adminTokenFile: true,
  operators: true,
  readableSecrets: true,
  upstream: true,
  rewriteUrls: true,
  reference: true,
  authentication: true,
  roles: true,
  permissions: true,
  parameters: true,
  pageBounds: true,
  cache: true,
  contract: true,
  release: true,
  instance: true,
  ledger: true,
  levels: true,
  learn: true,
  redis: true,
  undocumented: true,
  gdpr: true,
  comments: true,
  issueTracker: true,
  contractStatusHeader: true,
  proxyStatusHeader: true,
  logging: true,
  tracing: true,
  operations: true,
  rateLimits: true,
  rehearsal: true,
  tokens: true,
  oidc: true,
  mirror: true,
};
const CONTRACT: Keys<'contract'> = {
  folder: true,
  overlays: true,
  candidate: true,
  baseline: true,
  inferred: true,
  maxCollected: true,
  scanner: true,
};
const REFERENCE: Keys<'reference'> = { db: true, seed: true, complete: true, issueTrackerUrl: true, faults: true };
const TRACING: Keys<'tracing'> = {
  disabled: true,
  endpoint: true,
  protocol: true,
  headers: true,
  headersFile: true,
  serviceName: true,
  resourceAttributes: true,
  sampler: true,
  sampleRatio: true,
  followSampled: true,
  exportSeconds: true,
  maxQueuedSpans: true,
};

function keysOf(schema: unknown): string[] {
  const properties = isPlainObject(schema) ? schema['properties'] : undefined;
  return Object.keys(isPlainObject(properties) ? properties : {}).toSorted();
}

describe('PorticoConfig', () => {
  const schema = configSchema(PORTICO);

  it('has exactly the keys of the configuration', () => {
    expect(Object.keys(TOP).toSorted()).toEqual(keysOf(schema));
  });

  it.each(Object.entries({ contract: CONTRACT, reference: REFERENCE, tracing: TRACING }))(
    'has exactly the keys of %s',
    (name, keys) => {
      const { properties } = schema as { properties: Readonly<Record<string, unknown>> };
      expect(Object.keys(keys).toSorted()).toEqual(keysOf(properties[name]));
    },
  );
});
