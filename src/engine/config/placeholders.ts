import { escapePointer, keysOf } from '../../lib/json-pointer.ts';
import { isPlaceholder, isPlaceholderSecret } from '../../lib/placeholder.ts';
import { variablesOf } from './config-sources.ts';
import { isSecret } from './configurable.ts';
import type { Product } from './product.ts';
import type { ConfigProblem } from './settings.ts';

/**
 * Matches the dotted keys of addresses, accounts and files, without the indexes of lists. An account belongs to its
 * address: a template has both.
 */
const ADDRESS =
  /(?:^|\.)(?:\w*url|publicOrigin|publicBasePath|host|adminHost|trustedProxies|origins|legacyOrigins|alternates|nodes|endpoint|serverName|username|\w*File)$/i;

/**
 * Returns an error for each secret, address and path of a secret that still is a placeholder of a template, such as
 * `${UPSTREAM_URL}`. Portico replaces no placeholders. The errors contain no values.
 */
export function placeholderProblems(raw: unknown, product: Product, pointer = ''): readonly ConfigProblem[] {
  if (typeof raw === 'object' && raw !== null)
    return Object.entries(raw).flatMap(([key, value]) =>
      placeholderProblems(value, product, `${pointer}/${escapePointer(key)}`),
    );
  const key = keysOf(pointer)
    .filter((part) => !/^\d+$/.test(part))
    .join('.');
  if (typeof raw !== 'string') return [];
  const isReplaced = isSecret(key, raw, product.features)
    ? !isPlaceholderSecret(raw)
    : !ADDRESS.test(key) || !isPlaceholder(raw);
  if (isReplaced) return [];
  const variable = Object.entries(variablesOf(product)).find(([, set]) => set === pointer)?.[0];
  const suggestion = `write the real value${variable === undefined ? '' : `, or set ${variable}`}; Portico does not replace placeholders`;
  return [{ pointer, message: 'is a placeholder that has not been replaced', suggestion }];
}
