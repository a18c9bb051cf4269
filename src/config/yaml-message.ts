import type { YAMLError } from 'yaml';

const QUOTING: Readonly<Record<string, string>> = {
  TAG_RESOLVE_FAILED: 'has a tag that is not known; a text that begins with ! needs quotes',
  BAD_DIRECTIVE: 'has a directive that is not known; a text that begins with % needs quotes',
  BAD_DQ_ESCAPE: 'has an escape sequence that YAML does not know; in single quotes there are none',
};

/** What is wrong with a text as YAML, without the part of it that the parser quotes: it may be half a password. */
export function yamlMessage({ code, message }: Pick<YAMLError, 'code' | 'message'>): string {
  const own = QUOTING[code];
  if (own !== undefined) return own;
  if (code !== 'UNEXPECTED_TOKEN') return message;
  if (message.startsWith('Block scalar header'))
    return 'has a block without lines; a text that begins with | or > needs quotes';
  return message.split(':', 1)[0] ?? '';
}

/** Why aliases could not be followed, without the name of one. */
export function aliasMessage(error: unknown): string {
  const unknown = error instanceof Error && error.message.startsWith('Unresolved alias');
  return unknown ? 'has an alias that leads nowhere; a text that begins with * needs quotes' : 'uses too many aliases';
}
