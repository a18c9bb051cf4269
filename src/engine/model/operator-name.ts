/** The longest name of an operator, in characters. */
export const MAX_OPERATOR_NAME = 100;

/** Returns the name of an operator, or undefined if it is absent or invalid. */
export function operatorName(value: unknown): string | undefined {
  const name = lineOf(value);
  return name !== undefined && name.length <= MAX_OPERATOR_NAME ? name : undefined;
}

/**
 * Returns the value if it is a single line of text, without leading or trailing spaces. Returns undefined for anything
 * else.
 */
export function lineOf(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  // Control characters and invisible characters could be used to forge lines in a log or on a terminal.
  return text === '' || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(text) ? undefined : text;
}
