import { inlineSecrets, secretFiles } from '../../engine/config/secrets.ts';
import { isLoopbackHost } from '../../lib/network-address.ts';
import { usesRedis } from '../../engine/sharing/redis/redis-options.ts';
import { type AuditRule, type AuditSubject, foundIf } from './audit-rule.ts';

/** The minimum length of a token that cannot be guessed: 16 characters of 5 bits each. */
const MIN_TOKEN = 16;
const MIN_DISTINCT = 8;

/** Rules about passwords, tokens and the files that contain them. */
export const SECRET_RULES: readonly AuditRule[] = [
  {
    id: 'weak-local-admin-token',
    severity: 'low',
    key: '/adminToken',
    risk: 'Other users on this machine can guess the token.',
    fix: 'Use a random token of at least 16 characters.',
    find: ({ settings: { adminToken, listen } }) => (isLoopbackHost(listen.adminHost) ? weaknesses(adminToken) : []),
  },
  {
    id: 'readable-secrets',
    severity: 'high',
    key: '/upstream/credentials',
    risk: 'Every user and every compromised process on this machine can read the secrets in these files.',
    fix: 'Run chmod o-rwx on the files, and allow only the user and the group of the service to read them.',
    find: (subject) =>
      secretFiles(subject.settings, subject.configFile)
        .map(({ path }) => path)
        .filter((file) => isOpenToOthers(subject, file)),
  },
  {
    id: 'readable-hashes',
    severity: 'low',
    key: '/roles/file',
    realOnly: true,
    risk: 'Every user of this machine can read the password hashes and try to guess weak passwords from them.',
    fix: 'Run chmod o-rwx on the file, and allow only the user and the group of the service to read it.',
    find: (subject) =>
      foundIf(
        subject.roles.accounts.some(({ demo, passwordHash }) => !demo && passwordHash !== undefined) &&
          isOpenToOthers(subject, subject.settings.roles.file),
        subject.settings.roles.file,
      ),
  },
  {
    id: 'shared-pages-not-sealed',
    severity: 'medium',
    key: '/redis/sealKeyFile',
    risk: 'Anyone who can write to Redis can plant pages, which are served to any caller.',
    fix: 'Set it to a file with a random key, for example from openssl rand -base64 48.',
    find: ({ settings: { redis } }) =>
      foundIf(usesRedis(redis) && redis.sealKeyFile === undefined, 'pages in Redis are not sealed'),
  },
  {
    id: 'secret-in-configuration',
    severity: 'low',
    key: '/upstream/credentials',
    risk: 'A secret in the configuration file easily ends up in version control and in backups.',
    fix: 'Set it with an environment variable or a file, for example upstream.credentials.passwordFile.',
    find: ({ settings }) => inlineSecrets(settings).map((pointer) => pointer.slice(1).replaceAll('/', '.')),
  },
];

/**
 * Returns the reasons why a token can be guessed, or an empty list if there are none. The token itself must never
 * appear in a report.
 */
function weaknesses(token: string | undefined): readonly string[] {
  if (token === undefined) return [];
  if (token.length < MIN_TOKEN) return [`only ${token.length} characters`];
  return foundIf(new Set(token).size < MIN_DISTINCT, 'few different characters');
}

const isOpenToOthers = ({ modeOf }: AuditSubject, file: string) => ((modeOf(file) ?? 0) & 0o007) !== 0;
