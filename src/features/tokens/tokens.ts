import { createHash } from 'node:crypto';
import { readStateFile } from '../../engine/config/state-files.ts';
import { type ConfigProblem, needsSignIn } from '../../engine/config/settings.ts';
import type { Feature } from '../../engine/feature.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { MIN_SEAL_KEY } from '../../lib/seal.ts';
import { readSecretFile } from '../../lib/secret-file.ts';
import { admitToken, TOKEN_NOT_ALLOWED, USED_TOKEN } from './admit-token.ts';
import { createTokenManager } from './manage-tokens.ts';
import { KEY_OPTIONS, options, type TokensOptions } from './options.ts';
import { createPasswordSeal } from './password-seal.ts';
import type { TokensState } from './token-record.ts';
import { createTokenStore, POINTER, readTokensFile } from './token-store.ts';
import { tokenVerifiers } from './token-verifiers.ts';
import { createTokensAtWork } from './tokens-at-work.ts';
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
  errors: [TOKEN_NOT_ALLOWED],
  logFields: ['token'],
  needsRestart: ['file'],
  files: {
    keyFile: 'secret',
    previousKeyFile: 'secret',
    sealingKeyFile: 'secret',
    previousSealingKeyFile: 'secret',
    file: 'state',
  },
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
    const { options: given, prepared, lasting, clock } = context;
    const [key] = prepared.keys;
    if (key === undefined) return undefined;
    const store = lasting(
      () => createTokenStore(context, prepared.stored),
      (one) => one.close(),
    );
    const passwords = createPasswordSeal(prepared.sealingKeys);
    const { maxDays, maxUnsyncedSeconds } = given;
    const atWork = createTokensAtWork({ store, keys: prepared.keys, passwords, maxUnsyncedSeconds, clock });
    const manager = createTokenManager({ store, key, passwords, clock });
    const routes = { ...context, store, manager, maxDays };
    return {
      verifiers: tokenVerifiers(atWork),
      stages: [admitToken(atWork)],
      passiveStages: [admitToken(atWork, true)],
      describe(_plan, { principal }) {
        const used = atWork.usedBy(principal);
        if (used === undefined) return [];
        const upstream =
          principal.authorization === undefined
            ? 'the service account where the contract says that the caller does not matter, otherwise 501'
            : `the enrolled password of ${used.caller}, except where the service account is used`;
        return [
          ['token', `${used.id}: ${used.scope.join(', ')}`],
          ['sent as', upstream],
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
