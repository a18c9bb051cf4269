import { createHash } from 'node:crypto';
import { readStateFile } from '../../engine/config/state-files.ts';
import { type ConfigProblem, needsSignIn } from '../../engine/config/settings.ts';
import type { Feature } from '../../engine/feature.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { MIN_SEAL_KEY } from '../../lib/seal.ts';
import { readSecretFile } from '../../lib/secret-file.ts';
import { admitToken, TOKEN_NOT_ALLOWED, USED_TOKEN } from './admit-token.ts';
import { createEnrollment } from './enrollment.ts';
import { createTokenManager } from './manage-tokens.ts';
import { KEY_OPTIONS, options, type TokensOptions } from './options.ts';
import { createPasswordSeal } from './password-seal.ts';
import { PASSWORD_METHODS, PASSWORD_PATH, PASSWORD_REFUSED, servePassword } from './serve-password.ts';
import type { TokensState } from './token-record.ts';
import { createTokenStore, POINTER, readTokensFile } from './token-store.ts';
import { readTokenOrId, tokenVerifiers } from './token-verifiers.ts';
import { createTokensAtWork } from './tokens-at-work.ts';
import { registerTokenMetrics, TOKEN_METRICS } from './tokens-metrics.ts';
import { tokensPage } from './tokens-page.ts';
import { tokensRoutes } from './tokens-routes.ts';

/** What was read before the feature starts. The first key of each list is the current one. */
export interface PreparedTokens {
  readonly keys: readonly string[];
  readonly sealingKeys: readonly string[];
  readonly stored: TokensState;
}

/** Lets clients send tokens instead of passwords (docs/tokens.md). */
export const tokens = {
  name: 'tokens',
  options,
  errors: [TOKEN_NOT_ALLOWED, PASSWORD_REFUSED],
  metrics: TOKEN_METRICS,
  logFields: ['token'],
  needsRestart: ['file'],
  files: {
    keyFile: 'secret',
    previousKeyFile: 'secret',
    sealingKeyFile: 'secret',
    previousSealingKeyFile: 'secret',
    file: 'state',
  },
  variables: () => ({ PORTICO_TOKENS_KEY_FILE: 'keyFile', PORTICO_TOKENS_SEALING_KEY_FILE: 'sealingKeyFile' }),
  commands: [{ name: 'token', load: async (tools) => (await import('./token-command.ts')).tokenCommand(tools) }],
  // A walk neither changes the running gateway's file nor accepts tokens.
  forWalk: ({ maxDays, maxUnsyncedSeconds }) => ({ file: IN_MEMORY, maxDays, maxUnsyncedSeconds }),
  check: (given) => [...keyProblems(given), ...missingKeys(given)],
  warn({ keyFile, sealingKeyFile }, { settings }) {
    if (keyFile === undefined) return [];
    const { mode, upstream } = settings;
    if (mode.transparent)
      return [
        { pointer: '/tokens/keyFile', because: 'observe mode forwards every credential unchanged, even a token' },
      ];
    const messages = [
      !needsSignIn(settings) &&
        'is of no use yet, because only operators who sign in can create tokens: set adminToken or operators',
      upstream.credentials.kind === 'forward' &&
        sealingKeyFile === undefined &&
        'lets clients in with tokens, but there is no credential for the upstream, so they get a 501: set upstream.credentials to a service account, or tokens.sealingKeyFile',
    ];
    return messages.flatMap((message) => (message === false ? [] : [{ pointer: '/tokens/keyFile', message }]));
  },
  auditRules: [
    {
      id: 'tokens-in-memory',
      severity: 'low',
      key: POINTER,
      realOnly: true,
      risk: 'A restart loses all tokens, so clients are locked out.',
      fix: 'Set tokens.file to a path on a persistent volume.',
      find: ({ keyFile, file }) => (keyFile !== undefined && file === IN_MEMORY ? ['tokens.file'] : []),
    },
  ],
  prepare({ options: given, settings, earlier }) {
    const [keys, sealingKeys] = [
      keysIn([given.keyFile, given.previousKeyFile]),
      keysIn([given.sealingKeyFile, given.previousSealingKeyFile]),
    ];
    return {
      value: {
        keys,
        sealingKeys,
        // The running gateway has newer tokens than the file.
        stored:
          earlier?.stored ?? readStateFile(settings, { file: given.file, pointer: POINTER }, WORDS, readTokensFile),
      },
      subject: 'the keys of tokens',
      version: createHash('sha256')
        .update(JSON.stringify([keys, sealingKeys]))
        .digest('hex'),
    };
  },
  start(context) {
    const { options: given, prepared, lasting, clock, metrics, settings } = context;
    const [key] = prepared.keys;
    if (key === undefined) return undefined;
    const store = lasting(
      () => createTokenStore(context, prepared.stored),
      (one) => one.close(),
    );
    const passwords = createPasswordSeal(prepared.sealingKeys);
    const { maxDays, maxUnsyncedSeconds } = given;
    const onVerified = registerTokenMetrics(metrics, store, clock);
    const atWork = createTokensAtWork({
      store,
      keys: prepared.keys,
      passwords,
      maxUnsyncedSeconds,
      clock,
      onVerified,
    });
    const manager = createTokenManager({ store, key, passwords, clock });
    const enrollment = createEnrollment(manager, context.passwords);
    const path = `${settings.profile.basePath}${PASSWORD_PATH}`;
    const routes = { ...context, store, manager, enrollment, maxDays };
    return {
      verifiers: tokenVerifiers(atWork.verify),
      passiveVerifiers: tokenVerifiers(atWork.examine, readTokenOrId),
      // In observe mode, the same path may mean something to the upstream.
      ...(enrollment !== undefined &&
        !settings.mode.transparent && {
          middleware: [servePassword({ ...context, path, atWork, store, enrollment })],
          methodsAt: (asked: string) => (asked === path ? PASSWORD_METHODS : undefined),
        }),
      stages: [admitToken(atWork)],
      passiveStages: [admitToken(atWork, true)],
      describe({ serviceCredential }, { principal, delegated }) {
        const used = atWork.usedBy(principal);
        if (used === undefined) return [];
        const { id, scope, operations, networks, caller } = used;
        const more = [
          operations && `; only ${operations.join(', ')}`,
          networks && `; only from ${networks.join(', ')}`,
        ];
        return [
          ['token', `${id}: ${scope.join(', ')}${more.join('')}`],
          ['sent as', attribution(serviceCredential && !delegated, principal.authorization !== undefined, caller)],
        ];
      },
      logMembers(trace) {
        const token = USED_TOKEN.get(trace);
        return token === undefined ? undefined : { token };
      },
      pages: [tokensPage(routes)],
      adminRoutes: tokensRoutes(routes),
      open: store.open,
      use: manager.reseal,
    };
  },
} as const satisfies Feature<typeof options, PreparedTokens>;

/** Says what the upstream gets with a request, and to whom it then attributes it. */
function attribution(isService: boolean, isEnrolled: boolean, caller: string): string {
  if (isService) return 'the service account, to which the upstream attributes the request';
  return isEnrolled
    ? `${caller}, with the enrolled password: the upstream attributes the request to ${caller}`
    : 'nobody: the upstream needs the credential of the caller, and no password is enrolled';
}

const WORDS = { kind: 'file of tokens', start: 'without tokens' };

/** Returns the keys in the files. Files that cannot be read are reported by `check`. */
const keysIn = (files: readonly (string | undefined)[]): readonly string[] =>
  files.flatMap((file) => {
    const reading = file === undefined ? undefined : readSecretFile(file);
    return reading !== undefined && 'text' in reading ? [reading.text] : [];
  });

function keyProblems(given: TokensOptions): ConfigProblem[] {
  const texts = KEY_OPTIONS.flatMap((option) => {
    const file = given[option];
    return file === undefined ? [] : [{ pointer: `/tokens/${option}`, reading: readSecretFile(file) }];
  });
  return texts.flatMap(({ pointer, reading }, index): ConfigProblem[] => {
    if ('fault' in reading) return [{ pointer, message: reading.fault }];
    if (reading.text.length < MIN_SEAL_KEY)
      return [
        {
          pointer,
          message: `contains a key with fewer than ${MIN_SEAL_KEY} characters`,
          suggestion: 'create one with: openssl rand -base64 48',
        },
      ];
    const isRepeated = texts.slice(0, index).some((one) => 'text' in one.reading && one.reading.text === reading.text);
    return isRepeated ? [{ pointer, message: 'contains the same key as another file of tokens' }] : [];
  });
}

/** The options that are of no use without another one. */
const NEEDED = [
  ['previousKeyFile', 'keyFile'],
  ['sealingKeyFile', 'keyFile'],
  ['previousSealingKeyFile', 'sealingKeyFile'],
] as const;

const missingKeys = (given: TokensOptions): ConfigProblem[] =>
  NEEDED.filter(([option, needed]) => given[option] !== undefined && given[needed] === undefined).map(
    ([option, needed]) => ({
      pointer: `/tokens/${option}`,
      other: `/tokens/${needed}`,
      message: `is set without tokens.${needed}`,
    }),
  );
