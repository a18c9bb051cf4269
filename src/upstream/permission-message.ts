import type { DocumentedError } from '../model/operation.ts';
import { plainText } from './plain-text.ts';

/** Says whether a message of the upstream means that a permission is missing. */
export type PermissionMessage = (message: string, documented: readonly DocumentedError[]) => boolean;

/** Compiles the configured expressions; throws `SyntaxError` on one that is not valid. */
export function compilePermissionMessage(expressions: readonly string[]): PermissionMessage {
  const patterns = expressions.map((expression) => new RegExp(expression, 'iu'));
  return (message, documented) => {
    const text = plainText(message);
    return (
      documented.some((error) => error.status === 403 && plainText(error.text) === text) ||
      patterns.some((pattern) => pattern.test(text))
    );
  };
}
