import { createHash } from 'node:crypto';
import { isReadableByOthers, readSecretFile } from '../../lib/secret-file.ts';
import { openStoredResults, resultKey, type StoredResults } from '../../lib/stored-results.ts';
import { parsePhcHash, verifyPasswordSync } from '../identity/password-hash.ts';
import { membersOf } from '../../lib/plain-object.ts';
import { isLoopbackHost } from '../../lib/network-address.ts';
import type { Fault } from '../model/fault.ts';
import { hasUserinfo } from '../privacy/secret-text.ts';
import type { RolesFile } from '../permissions/roles-file.ts';
import { servicePassword } from '../upstream/upstream-options.ts';
import { featuresInUse, pointerOf } from './configurable.ts';
import type { ConfigProblem, Environment, Settings } from './settings.ts';

/** The demo accounts' passwords. A test checks that they match those in the reference server. */
export const PUBLIC_PASSWORDS: readonly string[] = ['admin', 'moderator', 'alice', 'bob', 'guest'];

const MIN_TOKEN = 8;
/**
 * The minimum length and the minimum number of distinct characters for an admin token when the admin side is not bound
 * to a loopback address. A token that meets both minimums cannot be guessed over the network.
 */
const STRONG = { length: 16, different: 8 };
const TOKEN_ADVICE = 'create one with: openssl rand -base64 24';

/** Returns the admin token from the file specified by `adminTokenFile`, or the reason why the token cannot be used. */
export function readAdminToken(settings: Settings): { readonly token?: string; readonly problem?: ConfigProblem } {
  const { adminToken, adminTokenFile } = settings;
  const pointer = '/adminTokenFile';
  if (adminTokenFile === undefined) return {};
  if (adminToken !== undefined)
    return { problem: { pointer, message: 'is set in addition to adminToken; set only one' } };
  const reading = readSecretFile(adminTokenFile);
  if ('fault' in reading) return { problem: { pointer, message: reading.fault } };
  if (reading.text.length >= MIN_TOKEN) return { token: reading.text };
  return { problem: { pointer, message: `contains a token with fewer than ${MIN_TOKEN} characters` } };
}

/**
 * Returns an error for each secret that is missing, public or easy to guess, and for each file with a secret that is
 * readable by every user on the machine.
 */
export function secretProblems(
  settings: Settings,
  env: Environment,
  configFile: string | undefined,
): readonly ConfigProblem[] {
  return [
    ...adminTokenProblems(settings),
    ...publicSecretProblems(settings, env),
    ...readableFileProblems(settings, configFile),
  ];
}

function adminTokenProblems({ adminToken, embedded, listen, operators }: Settings): ConfigProblem[] {
  if (isLoopbackHost(listen.adminHost)) return [];
  const pointer = '/adminToken';
  if (adminToken === undefined) {
    // The embedded upstream needs no protection, and the console refuses all requests if there is no token.
    if (embedded || operators.length > 0) return [];
    const message = `is required, because the admin side listens on ${listen.adminHost}, not on loopback`;
    return [{ pointer, other: '/adminTokenFile', message, suggestion: TOKEN_ADVICE }];
  }
  if (adminToken.length >= STRONG.length && new Set(adminToken).size >= STRONG.different) return [];
  const message = `is too easy to guess: off loopback, it must have at least ${STRONG.length} characters, ${STRONG.different} of them different`;
  return [{ pointer, message, suggestion: TOKEN_ADVICE }];
}

/** Returns an error for each secret that is the password of a demo account, which everybody knows. */
function publicSecretProblems(settings: Settings, env: Environment): ConfigProblem[] {
  if (settings.embedded) return [];
  const { adminToken, redis, upstream } = settings;
  const { credentials } = upstream;
  const service = credentials.kind === 'service' ? servicePassword(credentials, env) : undefined;
  const file = redis.passwordFile === undefined ? undefined : readSecretFile(redis.passwordFile);
  // Other checks report a missing password.
  const secrets = [
    {
      pointer: '/upstream/credentials',
      text: membersOf(service)['text'],
      suggestion: 'change the password of the service account on the upstream',
    },
    { pointer: '/adminToken', text: adminToken, suggestion: TOKEN_ADVICE },
    {
      pointer: redis.passwordFile === undefined ? '/redis/password' : '/redis/passwordFile',
      text: redis.password ?? membersOf(file)['text'],
      suggestion: 'change the password on the Redis server',
    },
  ];
  return secrets
    .filter(({ text }) => PUBLIC_PASSWORDS.some((password) => password === text))
    .map(({ pointer, suggestion }) => ({
      pointer,
      suggestion,
      message: 'is the published password of a demo account',
    }));
}

function readableFileProblems(settings: Settings, configFile: string | undefined): ConfigProblem[] {
  if (!refusesReadableFiles(settings)) return [];
  return secretFiles(settings, configFile)
    .filter(({ path }) => isReadableByOthers(path))
    .map(({ pointer, path }) => Object.assign({ pointer }, readableBy(path)));
}

/** Returns why a file with a secret must not be used, if every user on the machine can read it. */
export const whySecretIsReadable = (settings: Settings, path: string) =>
  refusesReadableFiles(settings) && isReadableByOthers(path) ? readableBy(path) : undefined;

/**
 * A file that contains a secret, and the configuration key that specifies the file. For a secret in the configuration
 * file itself, this is the secret's own key.
 */
interface SecretFile {
  readonly pointer: string;
  readonly path: string;
}

/** Returns the files that contain secrets, except the roles file. */
export function secretFiles(settings: Settings, configFile: string | undefined): readonly SecretFile[] {
  const { adminTokenFile, listen, redis, upstream } = settings;
  const [inline] = inlineSecrets(settings);
  const { passwordFile } = { passwordFile: undefined, ...upstream.credentials };
  const files: readonly (readonly [pointer: string | undefined, path: string | undefined])[] = [
    [inline, configFile],
    ['/adminTokenFile', adminTokenFile],
    ['/upstream/credentials/passwordFile', passwordFile],
    ['/listen/tls/keyFile', listen.tls?.keyFile],
    ['/listen/tls/passphraseFile', listen.tls?.passphraseFile],
    ['/redis/urlFile', redis.urlFile],
    ['/redis/passwordFile', redis.passwordFile],
    ['/redis/sealKeyFile', redis.sealKeyFile],
    ['/redis/previousSealKeyFile', redis.previousSealKeyFile],
    ['/redis/sentinel/passwordFile', redis.sentinel?.passwordFile],
    ['/redis/tls/keyFile', redis.tls?.keyFile],
    ...secretFilesOfFeatures(settings),
  ];
  return files.flatMap(([pointer, path]) => (pointer === undefined || path === undefined ? [] : [{ pointer, path }]));
}

function secretFilesOfFeatures(settings: Settings) {
  return featuresInUse(settings).flatMap(({ configurable, options }) =>
    Object.entries(configurable.files ?? {}).flatMap(([key, content]) => {
      const path = membersOf(options)[key];
      return content === 'secret' && typeof path === 'string' ? [[pointerOf(configurable, key), path] as const] : [];
    }),
  );
}

/** Returns the pointers of the secrets that are in the configuration file itself, not in a file that it names. */
export function inlineSecrets({ adminTokenFile, redis, features, originOf }: Settings): readonly string[] {
  return [
    // A token from a file has the origin of the key that names the file.
    ...(adminTokenFile === undefined ? ['/adminToken'] : []),
    '/upstream/credentials/password',
    '/redis/password',
    ...(hasUserinfo(redis.url) ? ['/redis/url'] : []),
    ...features.flatMap(({ configurable }) =>
      (configurable.secretOptions ?? []).map((key) => pointerOf(configurable, key)),
    ),
  ].filter((pointer) => originOf(pointer) === 'file');
}

const refusesReadableFiles = ({ embedded, readableSecrets }: Settings) => !embedded && readableSecrets === 'refuse';

const readableBy = (path: string) => ({
  message: `every user of this machine can read the secret in ${path}`,
  suggestion: `chmod o-rwx ${path}; for a Kubernetes volume, set defaultMode: 0440; or set readableSecrets: allow`,
});

/** Returns the reasons why a roles file must not be used with a real upstream: it contains public passwords. */
export function rolesFileFaults(settings: Settings, { accounts, source }: RolesFile): readonly Fault[] {
  if (settings.embedded) return [];
  const own = withOwnHash(accounts);
  if (own.length === 0) return [];
  publishedAmong ??= createPublishedCheck(openStoredResults('private-passwords'));
  const published = publishedAmong(own.map(({ passwordHash = '' }) => passwordHash));
  return own
    .filter(({ passwordHash = '' }) => published.has(passwordHash))
    .map(({ name }): Fault => ({
      source,
      pointer: '/accounts',
      message: `${name} has the published password of a demo account`,
      suggestion: 'create another hash with portico hash-password',
    }));
}

/**
 * Returns a warning if every user on the machine can read the hashes in a roles file and try to crack them. This does
 * not prevent the start, because the roles file is meant to be kept in a repository.
 */
export function rolesFileWarnings(settings: Settings, { accounts, source }: RolesFile): readonly Fault[] {
  if (!refusesReadableFiles(settings) || withOwnHash(accounts).length === 0 || !isReadableByOthers(source)) return [];
  const { message, suggestion } = readableBy(source);
  return [{ source, pointer: '/accounts', message: message.replace('the secret', 'the hashes'), suggestion }];
}

const withOwnHash = (accounts: RolesFile['accounts']) =>
  accounts.filter(({ demo, passwordHash }) => !demo && passwordHash !== undefined);

const KEY = resultKey(PUBLIC_PASSWORDS);

/**
 * Creates a function that returns those of the given hashes that are of published passwords. Every hash has its own
 * salt, so hashes cannot be compared; the passwords are hashed instead. This takes about 0.1 seconds for each hash with
 * the usual costs, so hashes of other passwords are remembered, and stored for the next start.
 */
export function createPublishedCheck(results: StoredResults): (hashes: readonly string[]) => ReadonlySet<string> {
  let known: Set<string> | undefined;
  return (hashes) => {
    known ??= new Set(readDigests(results.read(KEY)));
    const checked = known;
    const digests = new Map(hashes.map((hash) => [hash, createHash('sha256').update(hash).digest('base64')]));
    const published = new Set(hashes.filter((hash) => !checked.has(digests.get(hash) ?? '') && isPublished(hash)));
    const others = [...digests].filter(([hash]) => !published.has(hash)).map(([, digest]) => digest);
    const isNew = others.some((digest) => !checked.has(digest));
    // Only hashes in use are kept, so that the result does not grow.
    known = new Set(others);
    if (isNew) results.write(KEY, JSON.stringify(others));
    return published;
  };
}

let publishedAmong: ReturnType<typeof createPublishedCheck> | undefined;

function readDigests(stored: string | undefined): readonly string[] {
  const value: unknown = stored === undefined ? [] : JSON.parse(stored);
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function isPublished(text: string): boolean {
  const hash = parsePhcHash(text);
  return hash !== undefined && PUBLIC_PASSWORDS.some((password) => verifyPasswordSync(password, hash));
}
