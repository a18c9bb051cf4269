import type { CheckName } from '../model/checks.ts';
import { resolveRole } from '../permissions/compile-permissions.ts';
import type { AllowEntry } from '../pipeline/undocumented/policy.ts';
import { ANONYMOUS_ROLE, demoAccounts } from '../permissions/roles-file.ts';
import { isLoopbackHost } from '../lib/network-address.ts';
import { type AuditRule, type AuditSubject, foundIf, listed } from './audit-rule.ts';

const isUnsafe = (method: string) => !['GET', 'HEAD', 'OPTIONS'].includes(method);

/** Rules about who has access and what they may do. */
export const ACCESS_RULES: readonly AuditRule[] = [
  {
    id: 'nothing-enforced',
    severity: 'medium',
    key: '/mode',
    realOnly: true,
    risk: 'Nothing is refused: every violation and every missing permission is only counted.',
    fix: 'Look at the recorded violations (portico report), accept or fix them, and move to mode: staging.',
    find: (subject) => {
      const enforces = Object.values(subject.settings.checks).includes('enforce');
      const own = subject.operations.some(({ id }) =>
        Object.values(subject.settings.checksFor(id)).includes('enforce'),
      );
      return foundIf(!enforces && !own, `mode ${subject.settings.mode.name} enforces no checks`);
    },
  },
  {
    id: 'authentication-off',
    severity: 'high',
    key: '/checks/authentication',
    realOnly: true,
    risk: 'Anyone who can reach the public port can use these operations under any name, without a password.',
    fix: 'Set the check to enforce, or at least to report.',
    find: (subject) => listed(operationsAt(subject, 'authentication', 'off')),
  },
  {
    id: 'permissions-off',
    severity: 'high',
    key: '/checks/permissions',
    realOnly: true,
    risk: 'Callers without the required permission still get responses, including private fields of comments.',
    fix: 'Set the check to enforce.',
    find: (subject) => {
      const off = operationsAt(subject, 'permissions', 'off');
      const guarded = subject.operations.filter((one) => one.requires !== undefined || one.carriesPrivateFields);
      return listed(guarded.map(({ id }) => id).filter((id) => off.includes(id)));
    },
  },
  {
    id: 'anonymous-may-write',
    severity: 'critical',
    key: '/undocumented/allow',
    risk: 'Anyone can change content without logging in.',
    fix: `Give the entry a permission that the role ${ANONYMOUS_ROLE} does not have, or refuse anonymous callers.`,
    find: ({ settings, roles }) => {
      if (settings.authentication.anonymous !== 'allow') return [];
      const held = resolveRole(roles.roles, ANONYMOUS_ROLE).permissions;
      return settings.undocumented.allow
        .filter(({ method, permission }) => isUnsafe(method) && (permission === undefined || held.includes(permission)))
        .map(entryText);
    },
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
    risk: 'Requests without a credential are not challenged; the role anonymous decides what they see.',
    fix: 'Set it to deny unless you want to admit visitors without an account.',
    find: ({ settings }) => foundIf(settings.authentication.anonymous === 'allow', 'allow'),
  },
  {
    id: 'unmapped-callers-delegated',
    severity: 'info',
    key: '/roles/unmapped',
    realOnly: true,
    risk: 'For callers without an account, only the upstream checks permissions; Portico adds no protection.',
    fix: 'List the accounts in the roles file and set roles.unmapped to deny or to a role with few permissions.',
    find: (subject) => {
      const { roles, authentication, checks } = subject.settings;
      const policy = roles.unmapped ?? subject.roles.unmapped ?? 'delegate';
      const delegates = policy === 'delegate' && authentication.verifier === 'upstream';
      return foundIf(delegates && checks.permissions === 'enforce', 'delegate');
    },
  },
  {
    id: 'verified-for-long',
    severity: 'medium',
    key: '/authentication/cacheSeconds',
    risk: 'After a password is changed or an account is closed, the old credential keeps working for this long.',
    fix: 'Use 300 seconds or less.',
    find: ({ settings: { authentication } }) =>
      foundIf(authentication.cacheSeconds > 300, `${authentication.cacheSeconds} seconds`),
  },
  {
    id: 'password-guessing',
    severity: 'high',
    key: '/authentication/failures',
    risk: 'Attackers can guess passwords: each address may make this many attempts for each name.',
    fix: 'Use at most 30 attempts a minute; the default is 10.',
    find: ({ settings }) => {
      const { limit, windowSeconds } = settings.authentication.failures;
      return foundIf((limit * 60) / windowSeconds > 30, `${limit} attempts in ${windowSeconds} seconds`);
    },
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
          const isOpen = isUnsafe(method) && path.endsWith('/**') && permission === undefined;
          return isOpen || path === '/services/v2/**';
        })
        .map(entryText),
  },
  {
    id: 'demo-accounts-reachable',
    severity: 'medium',
    key: '/listen/host',
    risk: 'Anyone on the network can log in to the reference server as an administrator; the passwords are public.',
    fix: 'Listen on 127.0.0.1, or set upstream.url to the real server.',
    find: (subject) => {
      const { embedded, listen, authentication } = subject.settings;
      const isOpen = embedded && authentication.verifier === 'file' && !isLoopbackHost(listen.host);
      return isOpen ? listed(demoAccounts(subject.roles)) : [];
    },
  },
];

const entryText = ({ method, path }: AllowEntry): string => `${method} ${path}`;

const operationsAt = ({ settings, operations }: AuditSubject, check: CheckName, level: string): readonly string[] =>
  operations.map(({ id }) => id).filter((id) => settings.checksFor(id)[check] === level);
