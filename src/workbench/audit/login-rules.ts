import { isLoopbackHost } from '../../lib/network-address.ts';
import { demoAccounts, type RolesFile } from '../../engine/permissions/roles-file.ts';
import { type AuditRule, foundIf } from './audit-rule.ts';
import { listed } from '../../lib/listed.ts';
import { verifierOf } from '../../engine/identity/verifiers.ts';

/** Rules about credential verification and the accounts that can log in. */
export const LOGIN_RULES: readonly AuditRule[] = [
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
    id: 'names-ignore-case',
    severity: 'medium',
    key: '/roles/names',
    realOnly: true,
    risk: 'If the server does distinguish case, anyone who registers ADMIN there has the roles of admin here.',
    fix: 'Use ignoreCase only if portico doctor has found that the server ignores case.',
    find: ({ settings, roles }) => foundIf(settings.roles.names === 'ignoreCase', accountCount(roles)),
  },
  {
    id: 'names-exact',
    severity: 'info',
    key: '/roles/names',
    realOnly: true,
    risk: 'If the server ignores case, callers who write the name of their account in another case are denied.',
    fix: 'Ask the server with portico doctor, and use ignoreCase if it ignores case.',
    find: ({ settings, roles }) => {
      const hasAccounts = roles.accounts.some(({ demo }) => !demo);
      const isUnset = settings.originOf('/roles/names') === 'default';
      return foundIf(isUnset && hasAccounts, accountCount(roles));
    },
  },
  {
    id: 'demo-accounts-reachable',
    severity: 'medium',
    key: '/listen/host',
    risk: 'Anyone on the network can log in to the reference server as an administrator; the passwords are public.',
    fix: 'Listen on 127.0.0.1, or set upstream.url to the real server.',
    find: (subject) => {
      const { embedded, listen, authentication } = subject.settings;
      const isOpen = embedded && verifierOf(authentication).readsPasswords && !isLoopbackHost(listen.host);
      return isOpen ? listed(demoAccounts(subject.roles)) : [];
    },
  },
];

function accountCount({ accounts }: RolesFile): string {
  const count = accounts.filter(({ demo }) => !demo).length;
  return `${count} account${count === 1 ? '' : 's'} in the roles file`;
}
