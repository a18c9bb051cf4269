import { join } from 'node:path';

/** The folder with a stored token, and the key with which it was stored. */
export const STORED_TOKENS = join(import.meta.dirname, 'stored-tokens');

/** The options with which a gateway has tokens, but none that is stored. */
export const TOKENS_ON = { keyFile: join(STORED_TOKENS, 'tokens.key'), file: ':memory:' };
