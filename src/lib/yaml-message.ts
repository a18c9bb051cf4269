import type { ErrorCode, YAMLError } from 'yaml';

/** What each error means and, where it is not obvious, how to correct it. */
const WORDS: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'has an alias with a tag or an anchor; a string that starts with * must be quoted',
  BAD_ALIAS: 'has an alias or an anchor without a name; a string that starts with * or & must be quoted',
  BAD_COLLECTION_TYPE: 'has a tag that does not suit its value; a string that starts with ! must be quoted',
  BAD_DIRECTIVE: 'has an unknown directive; a string that starts with % must be quoted',
  BAD_DQ_ESCAPE: 'has an invalid escape sequence; single quotes do not use escape sequences',
  BAD_INDENT: 'is indented incorrectly; keys of the same level must start in the same column',
  BAD_PROP_ORDER: 'has a tag or an anchor in the wrong place; a string that starts with ! or & must be quoted',
  BAD_SCALAR_START: 'has a string that starts with a reserved character; quote it',
  BLOCK_AS_IMPLICIT_KEY:
    'has a value in the wrong place; start a new line after the colon, or quote a value with a colon',
  BLOCK_IN_FLOW: 'has lines with dashes or colons within brackets; write them without brackets',
  DUPLICATE_KEY: 'has the same key twice',
  IMPOSSIBLE: 'has a syntax error',
  KEY_OVER_1024_CHARS: 'has a key that is longer than 1024 characters',
  MISSING_CHAR: 'lacks a character, such as a closing quote or bracket, a colon, or a space',
  MULTILINE_IMPLICIT_KEY: 'has a key without a colon or on several lines, or an earlier bracket is not closed',
  MULTIPLE_ANCHORS: 'has two anchors; a string that starts with & must be quoted',
  MULTIPLE_DOCS: 'contains several documents; remove everything from the second line with --- on',
  MULTIPLE_TAGS: 'has two tags; a string that starts with ! must be quoted',
  NON_STRING_KEY: 'has a key that is not a string',
  RESOURCE_EXHAUSTION: 'is nested too deeply',
  TAB_AS_INDENT: 'is indented with a tab; use spaces',
  TAG_RESOLVE_FAILED: 'has an unknown tag; a string that starts with ! must be quoted',
  UNEXPECTED_TOKEN: 'has an unexpected character; a string with special characters must be quoted',
};

/** Describes a YAML error for users. Never quotes the text, which may be part of a password. */
export function yamlMessage({ code, message }: Pick<YAMLError, 'code' | 'message'>): string {
  // These causes share their codes with others.
  if (message.startsWith('Block scalar header'))
    return 'has an invalid block; a string that starts with | or > must be quoted';
  if (message.startsWith('Missing closing')) return 'has a string without a closing quote';
  if (/^Flow |flow sequence pairs/.test(message))
    return 'is inside an open bracket; close the bracket, or indent the lines in it';
  return WORDS[code];
}

/** The errors that concern only a single key or value, so that each of several such errors is true. */
const SINGLE: ReadonlySet<ErrorCode> = new Set(['DUPLICATE_KEY', 'TAG_RESOLVE_FAILED', 'BAD_DQ_ESCAPE']);

/** Returns whether an error may cause others, because the structure of the rest of the text is unknown. */
export const isFollowedByOthers = ({ code }: Pick<YAMLError, 'code'>): boolean => !SINGLE.has(code);

/** Describes an error that occurs when a parsed document is converted to a value. */
export function aliasMessage(error: unknown): string {
  const unknown = error instanceof Error && error.message.startsWith('Unresolved alias');
  return unknown
    ? 'has an alias without an anchor; a string that starts with * must be quoted'
    : 'uses too many aliases';
}
