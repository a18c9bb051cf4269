import type { Feature } from '../../engine/feature.ts';
import { closestName } from '../../lib/closest-name.ts';
import { UNDOCUMENTED } from '../../engine/telemetry/label-values.ts';
import { limitedRoles, limitRate } from './limit-rate.ts';
import { options, type RateLimitRule } from './options.ts';
import { BUDGETS, createRateLimiter, RATE_LIMITED } from './rate-limiter.ts';

const LIMITED = {
  name: 'portico_rate_limited_total',
  type: 'counter',
  labels: ['rule', 'operation'],
  help: 'Requests refused by a rule in rateLimits. The metric exists only if there are rules.',
} as const;

/** Limits the number of requests of each caller, network or role. */
export const rateLimits = {
  name: 'rateLimits',
  options,
  errors: [RATE_LIMITED],
  metrics: [LIMITED],
  logFields: ['rateLimit'],
  check(rules) {
    const names = rules.map(({ name }) => name);
    return rules.flatMap(({ name, per, roles }, index) => {
      const pointer = `/rateLimits/${index}`;
      return [
        ...(names.indexOf(name) < index
          ? [{ pointer: `${pointer}/name`, message: 'is the name of an earlier rule' }]
          : []),
        ...(per === 'role' && roles === undefined
          ? [{ pointer: `${pointer}/per`, message: 'is role, which needs roles', suggestion: 'list the roles' }]
          : []),
      ];
    });
  },
  checkContract: (rules, { operations }) =>
    unknownNames(
      rules,
      'operations',
      operations.map(({ id }) => id),
    ).map(({ pointer, name, near }) => {
      const message = `${name} is not an operation in the contract`;
      return near === undefined ? { pointer, message } : { pointer, message, suggestion: `did you mean ${near}?` };
    }),
  warn(rules, { settings, roles: { roles } }) {
    const unknown = unknownNames(rules, 'roles', [...roles.keys()]).map(({ pointer, name, near }) => ({
      pointer,
      message: `"${name}" is not a role in the roles file${near === undefined ? '' : ` (did you mean ${near}?)`}`,
    }));
    if (rules.length === 0 || !settings.mode.transparent) return unknown;
    return [{ pointer: '/rateLimits', because: 'observe mode refuses no requests' }, ...unknown];
  },
  start({ options: rules, operations, sharing, metrics }) {
    if (rules.length === 0) return undefined;
    const onLimited = metrics.counter(LIMITED, [
      rules.map(({ name }) => name),
      [...operations.map(({ id }) => id), UNDOCUMENTED],
    ]);
    const limiter = createRateLimiter({
      rules,
      sharing,
      onLimited: (rule, operation = UNDOCUMENTED) => onLimited(rule, operation),
    });
    return {
      stages: [limitRate(limiter)],
      passiveStages: [limitRate(limiter, true)],
      describe({ operation, stages }, { grants }) {
        if (!stages.includes('limit-rate')) return [];
        const roles = limitedRoles(grants);
        return limiter
          .rulesFor(operation.id)
          .filter((rule) => rule.roles === undefined || rule.roles.some((role) => roles.includes(role)))
          .map(
            ({ name, requests, windowSeconds, per }) =>
              ['rate limit', `${name}: ${requests} requests in ${windowSeconds} s per ${per}`] as const,
          );
      },
      addHeaders(trace, headers) {
        const budgets = BUDGETS.get(trace);
        if (budgets !== undefined) headers.push('RateLimit-Policy', budgets.policy, 'RateLimit', budgets.state);
      },
      logMembers(trace) {
        const refusedBy = BUDGETS.get(trace)?.refusedBy;
        return refusedBy === undefined ? undefined : { rateLimit: refusedBy };
      },
    };
  },
} as const satisfies Feature<typeof options>;

/** Returns the names in the rules that are not known, each with a similar known name. */
function unknownNames(rules: readonly RateLimitRule[], key: 'operations' | 'roles', known: readonly string[]) {
  return rules.flatMap((rule, at) =>
    (rule[key] ?? []).flatMap((name, index) =>
      known.includes(name)
        ? []
        : [{ pointer: `/rateLimits/${at}/${key}/${index}`, name: name.slice(0, 100), near: closestName(name, known) }],
    ),
  );
}
