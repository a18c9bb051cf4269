import { isSafe } from '../../engine/model/safe-methods.ts';
import { resolveRole } from '../../engine/permissions/compile-permissions.ts';
import { ANONYMOUS_ROLE } from '../../engine/permissions/roles-file.ts';
import type { AllowEntry } from '../../engine/pipeline/undocumented/policy.ts';
import { type AuditRule, type AuditSubject, foundIf } from './audit-rule.ts';
import { listed } from '../../lib/listed.ts';

/**
 * Returns a function that tests whether an entry of `undocumented.allow` lets anyone change content without logging in.
 * The roles are read only if callers without a credential are admitted at all.
 */
export function anyoneMayChange(
  { authentication }: Pick<AuditSubject['settings'], 'authentication'>,
  readRoles: () => AuditSubject['roles'],
): (entry: AllowEntry) => boolean {
  if (authentication.anonymous !== 'allow') return () => false;
  const held = resolveRole(readRoles().roles, ANONYMOUS_ROLE).permissions;
  return ({ method, permission }) => !isSafe(method) && (permission === undefined || held.includes(permission));
}

/** Rules about what callers without a credential may do, and about requests that are forwarded without checks. */
export const ANONYMOUS_RULES: readonly AuditRule[] = [
  {
    id: 'anonymous-may-write',
    severity: 'critical',
    key: '/undocumented/allow',
    risk: 'Anyone can change content without logging in.',
    fix: `Give the entry a permission that the role ${ANONYMOUS_ROLE} does not have, or refuse anonymous callers.`,
    find: ({ settings, roles }) =>
      settings.undocumented.allow.filter(anyoneMayChange(settings, () => roles)).map(entryText),
  },
  {
    id: 'anonymous-holds-privileges',
    severity: 'high',
    key: '/roles/file',
    risk: 'Callers without a credential may do more than view pages, and so may every role that inherits from anonymous.',
    fix: `Give the role ${ANONYMOUS_ROLE} only the View permissions that visitors need.`,
    find: ({ roles }) =>
      listed(resolveRole(roles.roles, ANONYMOUS_ROLE).permissions.filter((name) => !name.startsWith('View '))),
  },
  {
    id: 'anonymous-admitted',
    severity: 'info',
    key: '/authentication/anonymous',
    risk: 'Requests without a credential are not challenged; the anonymous role determines what they see.',
    fix: 'Set it to deny unless you want to admit visitors without an account.',
    find: ({ settings }) => foundIf(settings.authentication.anonymous === 'allow', 'allow'),
  },
  {
    id: 'anyone-bypasses-the-cache',
    severity: 'medium',
    key: '/cache/noCacheRoles',
    risk: 'Callers without a credential can send every request to the upstream and overload it.',
    fix: `Remove the role ${ANONYMOUS_ROLE}.`,
    find: ({ settings: { cache } }) => cache.noCacheRoles.filter((role) => role === ANONYMOUS_ROLE),
  },
  {
    id: 'wide-passthrough',
    severity: 'high',
    key: '/undocumented/allow',
    risk: 'Requests that the contract does not describe reach the upstream unchecked, including some that change data.',
    fix: 'List individual paths and methods, and require a permission for each method that changes data.',
    find: ({ settings }) =>
      settings.undocumented.allow
        .filter(({ method, path, permission }) => {
          const isOpen = !isSafe(method) && path.endsWith('/**') && permission === undefined;
          return isOpen || path === '/services/v2/**';
        })
        .map(entryText),
  },
];

const entryText = ({ method, path }: AllowEntry): string => `${method} ${path}`;
