import { cacheOptionsSchema, operationCacheSchema } from '../cache/cache-options.ts';
import { commentsOptionsSchema } from '../comments/comments-options.ts';
import { gdprOptionsSchema } from '../gdpr/gdpr-options.ts';
import { identityOptionsSchema } from '../identity/identity-options.ts';
import { ladderOptionsSchema } from '../ladder/ladder-options.ts';
import { overridesOptionsSchema } from '../overrides/overrides-options.ts';
import { learnOptionsSchema } from '../learn/learn-options.ts';
import { ledgerOptionsSchema } from '../ledger/ledger-options.ts';
import { MODE_NAMES } from '../model/checks.ts';
import { operationPagingSchema, pagingOptionsSchema } from '../paging/paging-options.ts';
import { permissionsOptionsSchema, rolesOptionsSchema } from '../permissions/permissions-options.ts';
import { redisOptionsSchema } from '../redis/redis-options.ts';
import { LOG_LEVELS } from '../telemetry/logs.ts';
import { tracingOptionsSchema } from '../telemetry/tracing-options.ts';
import { upstreamOptionsSchema } from '../upstream/upstream-options.ts';
import { contractKeySchema } from './contract-key.ts';
import {
  checksSchema,
  corsOptionsSchema,
  errorsSchema,
  listenOptionsSchema,
  referenceSchema,
  undocumentedSchema,
  rateLimitsSchema,
} from './general-options.ts';

const closed = (properties: object, description?: string) => ({
  type: 'object',
  ...(description !== undefined && { description }),
  additionalProperties: false,
  properties,
});

/** Returns the JSON Schema (2020-12) of the configuration file. It is composed of each feature's own schema. */
export function configSchema(): Record<string, unknown> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:portico:schema:config',
    title: 'Configuration of Portico',
    ...closed({
      mode: { enum: MODE_NAMES, description: 'Default: strict on the embedded upstream, observe with a real one.' },
      checks: checksSchema,
      errors: errorsSchema,
      publicBasePath: {
        type: 'string',
        pattern: '^(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$',
        description:
          'The prefix of /services/v2/ in the paths that clients use, for example /qa; without a trailing slash.',
      },
      publicOrigin: {
        type: 'string',
        pattern: String.raw`^https?://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$`,
        description: 'Scheme and host that clients use, for example https://qa.example.org; without a path.',
      },
      listen: listenOptionsSchema,
      cors: corsOptionsSchema,
      adminToken: {
        type: 'string',
        minLength: 8,
        description: 'Token for the console and for purging on the admin side; PORTICO_ADMIN_TOKEN.',
      },
      adminTokenFile: {
        type: 'string',
        minLength: 1,
        description: 'A file whose first line is the adminToken; PORTICO_ADMIN_TOKEN_FILE.',
      },
      readableSecrets: {
        enum: ['refuse', 'allow'],
        description: 'Whether Portico starts with a real upstream if all users of the machine can read a secret.',
      },
      upstream: upstreamOptionsSchema,
      rewriteUrls: { type: 'boolean', description: 'Rewrite absolute legacy addresses in bodies.' },
      reference: referenceSchema,
      authentication: identityOptionsSchema,
      roles: rolesOptionsSchema,
      permissions: permissionsOptionsSchema,
      parameters: closed({
        allow: {
          type: 'object',
          description: 'Parameters to allow in addition to those of the contract, by operation id.',
          additionalProperties: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 100 } },
        },
      }),
      pageBounds: pagingOptionsSchema,
      cache: cacheOptionsSchema,
      contract: contractKeySchema,
      release: {
        type: 'string',
        pattern: '^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$',
        description: 'Release label of recorded violations, to compare releases; PORTICO_RELEASE.',
      },
      instance: {
        type: 'string',
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$',
        description: 'Name of this instance among the gateways of a fleet; PORTICO_INSTANCE, POD_NAME.',
      },
      ledger: ledgerOptionsSchema,
      ladder: ladderOptionsSchema,
      overrides: overridesOptionsSchema,
      learn: learnOptionsSchema,
      redis: redisOptionsSchema,
      rateLimits: rateLimitsSchema,
      workers: {
        type: ['integer', 'string'],
        minimum: 1,
        maximum: 64,
        pattern: '^auto$',
        description:
          'The number of processes that serve requests, from 1 to 64; auto means one for each core; PORTICO_WORKERS.',
      },
      undocumented: undocumentedSchema,
      gdpr: gdprOptionsSchema,
      comments: commentsOptionsSchema,
      issueTracker: closed({ enabled: { type: 'boolean' } }, 'The issue tracker to which attachments are copied.'),
      contractStatusHeader: { type: 'boolean', description: 'Whether responses have the header Contract-Status.' },
      proxyStatusHeader: {
        type: 'boolean',
        description: 'Whether error responses that the upstream causes have the header Proxy-Status (RFC 9209).',
      },
      logging: closed({
        level: { enum: LOG_LEVELS },
        principalNames: { type: 'boolean', description: 'Show the names of callers instead of keyed hashes.' },
      }),
      tracing: tracingOptionsSchema,
      operations: {
        type: 'object',
        description: 'Overrides for individual operations, by operation id.',
        additionalProperties: closed({
          checks: checksSchema,
          errors: errorsSchema,
          cache: operationCacheSchema,
          pageBounds: operationPagingSchema,
        }),
      },
    }),
  };
}
