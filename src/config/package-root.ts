import { join } from 'node:path';

/** The folder that `config/` and `schemas/` of this package are in, for sources and for the release build alike. */
export const packageRoot = join(import.meta.dirname, '..', '..');
