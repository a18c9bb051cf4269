import { join } from 'node:path';

const folder = join(import.meta.dirname, 'stored-tokens');

/** The options with which a gateway has tokens, but none that is stored. */
export const TOKENS_ON = { keyFile: join(folder, 'tokens.key'), file: ':memory:' };
