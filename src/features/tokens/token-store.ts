import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { warnIfInMemory } from '../../engine/config/state-files.ts';
import type { FeatureContext } from '../../engine/feature.ts';
import { HOUR_MS } from '../../lib/clock.ts';
import { IN_MEMORY, replaceFile } from '../../lib/replace-file.ts';
import { readIfExists } from '../../lib/state-file.ts';
import {
  formatTokens,
  mergeTokens,
  NO_TOKENS,
  parseTokens,
  swept,
  type TokenRecord,
  type TokensState,
} from './token-record.ts';

/** The tokens of this gateway and of those with which it shares them. It survives reloads. */
export interface TokenStore {
  get(id: string): TokenRecord | undefined;
  all(): readonly TokenRecord[];
  /** Adds a token. */
  add(record: TokenRecord): void;
  /** Changes a token. Does nothing if it does not exist. */
  change(id: string, change: Partial<Omit<TokenRecord, 'id' | 'hash'>>): void;
  /** Waits until all changes are stored: in the file, or where the other gateways find them. Resolves to false if not. */
  written(): Promise<boolean>;
  /**
   * Returns whether this gateway knows what the others revoked up to `seconds` ago. If it cannot tell, it asks them first.
   */
  knowsRevocations(seconds: number): boolean | Promise<boolean>;
  /** Checks that tokens can be stored, and begins to share them. Does nothing if it has been called. */
  open(): Promise<void>;
  close(): Promise<void>;
}

/** Reads the file of the tokens. Returns the empty state if there is none. Throws an error if it is invalid. */
export function readTokensFile(file: string): TokensState {
  const text = file === IN_MEMORY ? undefined : readIfExists(file);
  return text === undefined ? NO_TOKENS : parseTokens(text);
}

/** The key of the file. */
export const POINTER = '/tokens/file';

type Context = Pick<FeatureContext<{ readonly file: string }>, 'options' | 'settings' | 'clock' | 'logger' | 'sharing'>;

/** Creates the store from what was stored earlier. Nothing is written until a token changes. */
export function createTokenStore(context: Context, stored: TokensState): TokenStore {
  const { options, settings, clock, logger, sharing } = context;
  let state = stored;
  let byId = new Map(stored.tokens.map((one) => [one.id, one]));
  let mergedAt = -Infinity;
  const file = createWriter(options.file, logger);
  const document = sharing.openDocument<TokensState>('tokens', {
    current: () => state,
    adopt: (next) => use(next),
    merge: (base, mine, theirs) => mergeTokens(base, mine, theirs, clock()),
    empty: () => NO_TOKENS,
    format: formatTokens,
    parse: parseTokens,
    onMerged() {
      mergedAt = clock();
    },
  });
  const use = (next: TokensState) => {
    state = next;
    byId = new Map(next.tokens.map((one) => [one.id, one]));
    file.write(next);
  };
  const put = (record: TokenRecord) => {
    use(swept([...state.tokens.filter(({ id }) => id !== record.id), record], clock()));
    void document.sync();
  };
  const sweep = () => {
    const next = swept(state.tokens, clock());
    if (isDeepStrictEqual(next, state)) return;
    use(next);
    void document.sync();
  };
  const isAlone = () => sharing.status() === undefined;
  const knows = (seconds: number) => isAlone() || clock() - mergedAt <= seconds * 1000;
  const openOnce = async () => {
    const at = { file: options.file, pointer: POINTER };
    await warnIfInMemory(settings, at, { logger, name: 'tokens', what: 'the tokens' });
    await document.start();
    sweep();
    timer = setInterval(sweep, HOUR_MS).unref();
  };
  let timer: NodeJS.Timeout | undefined;
  let opening: Promise<void> | undefined;
  return {
    get: (id) => byId.get(id),
    all: () => state.tokens,
    add: put,
    change(id, change) {
      const before = byId.get(id);
      if (before === undefined) return;
      const after = { ...before, ...change };
      if (!isDeepStrictEqual(before, after)) put(after);
    },
    async written() {
      const [isInFile, isShared] = await Promise.all([file.written(), document.sync()]);
      return isInFile || isShared;
    },
    knowsRevocations: (seconds) => knows(seconds) || document.sync().then(() => knows(seconds)),
    open: () => (opening ??= openOnce()),
    async close() {
      clearInterval(timer);
      await file.written();
    },
  };
}

/** Writes the latest state to the file, one write at a time. */
function createWriter(path: string, logger: Logger) {
  let waiting: TokensState | undefined;
  let writing: Promise<void> | undefined;
  let isStored = true;
  const work = async () => {
    for (let next = waiting; next !== undefined; next = waiting) {
      waiting = undefined;
      try {
        // Readable only by its owner, because it contains names of callers and sealed passwords.
        if (path !== IN_MEMORY) await replaceFile(path, formatTokens(next), 0o600);
        isStored = true;
      } catch (error) {
        logger.error({ err: error }, 'the tokens cannot be stored: a change may be lost when the process ends');
        isStored = false;
      }
    }
    writing = undefined;
  };
  return {
    write(next: TokensState) {
      waiting = next;
      writing ??= work();
    },
    async written() {
      await writing;
      return isStored;
    },
  };
}
