import { type Static, Type } from 'typebox';

const rule = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$', description: 'Name in headers, logs and metrics.' }),
    per: Type.Enum(['caller', 'network', 'role'], {
      default: 'caller',
      description:
        "What has its own budget: each caller, network or role. Unverified callers always share their network's budget.",
    }),
    operations: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description: 'Ids of the operations to which the rule applies; by default, all, and undocumented paths.',
      }),
    ),
    roles: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description: 'Roles to whose callers the rule applies, if they have one of them; by default, all callers.',
      }),
    ),
    requests: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Maximum number of requests within the window.',
    }),
    windowSeconds: Type.Integer({ minimum: 1, maximum: 86_400, description: 'Length of the window.' }),
  },
  { additionalProperties: false },
);

/** The options under the `rateLimits` configuration key. */
export const options = Type.Array(rule, {
  maxItems: 10,
  default: [],
  description: 'Limits on requests (docs/fleet.md#rate-limits). A request counts toward every rule that applies to it.',
});

/** A rule in `rateLimits`. */
export type RateLimitRule = Static<typeof rule>;
