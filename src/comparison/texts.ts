import { decodeHTML } from 'entities/decode';

/** What is known of one server for reading the addresses in its texts. */
export interface ServerAddresses {
  /** The addresses under which the server calls itself, without a slash at the end, longest first. */
  readonly own: readonly string[];
  /** The path of the base address, without a slash at the end. */
  readonly basePath: string;
}

/** The characters that end an address within a text. */
const AFTER_ADDRESS = /^(?:[/?#"'<>\s)\]]|$)/;

/** Returns a text in which the server's own absolute addresses are relative to it. */
export function withoutOwnAddress(text: string, { own, basePath }: ServerAddresses): string {
  if (!text.includes('/')) return text;
  let result = text;
  for (const address of own) result = removeAddress(result, address);
  const isRelative = basePath !== '' && (result.startsWith(`${basePath}/`) || result === basePath);
  return isRelative ? result.slice(basePath.length) : result;
}

function removeAddress(text: string, address: string): string {
  let kept = '';
  let from = 0;
  for (;;) {
    const at = text.indexOf(address, from);
    if (at < 0) return kept + text.slice(from);
    const end = at + address.length;
    const isWhole = AFTER_ADDRESS.test(text.slice(end, end + 1));
    kept += isWhole ? text.slice(from, at) : text.slice(from, end);
    from = end;
  }
}

/** Returns whether a text contains one of the addresses. */
export function containsAddress(text: string, { own }: ServerAddresses): boolean {
  return own.some((address) => removeAddress(text, address) !== text);
}

/** The elements around which white space has no effect. */
const BLOCKS =
  /^<\/?(?:address|article|blockquote|br|dd|div|dl|dt|figure|h[1-6]|hr|li|ol|p|pre|section|table|tbody|td|tfoot|th|thead|tr|ul)(?![\w-])/i;

const KEEPS_SPACE = /^<(\/?)(pre|textarea)(?![\w-])/i;

const MAX_HTML = 1_000_000;

/**
 * Returns HTML in a form in which white space and entities that mean nothing are the same: entities decoded in text,
 * runs of white space as one space, none beside blocks, and attributes in double quotes. Tags and words are kept.
 * White space inside `pre` and `textarea` has a meaning, and so it has in a text without tags, which keeps all of it. A
 * space that does not break is no white space.
 */
export function normalHtml(html: string): string {
  const text = html.slice(0, MAX_HTML);
  // Without tags it may be Markdown or plain text, in which lines mean something.
  if (!/<[a-zA-Z/!]/.test(text)) return textOf(text.replaceAll('\r\n', '\n')) + html.slice(MAX_HTML);
  const parts = text.split(/(<[a-zA-Z/!][^<>]*>)/);
  // How many elements that keep white space each part is in.
  let depth = 0;
  const normal = parts.map((part, at) => {
    if (at % 2 === 1) {
      const [, slash, name] = KEEPS_SPACE.exec(part) ?? [];
      if (name !== undefined) depth = Math.max(0, depth + (slash === '/' ? -1 : 1));
      return normalTag(part);
    }
    const decoded = textOf(part);
    if (depth > 0) return decoded.replaceAll('\r\n', '\n');
    const single = decoded.replace(/[ \t\n\f\r]+/g, ' ');
    const isFirst = at === 0 || BLOCKS.test(parts[at - 1] ?? '');
    const isLast = at === parts.length - 1 || BLOCKS.test(parts[at + 1] ?? '');
    return single.slice(isFirst && single.startsWith(' ') ? 1 : 0, isLast && single.endsWith(' ') ? -1 : undefined);
  });
  return normal.join('') + html.slice(MAX_HTML);
}

/** Decodes the entities in a text. A decoded `<` must not be taken for the beginning of a tag. */
const textOf = (text: string) => decodeHTML(text).replaceAll('<', '\u0001');

/** Decodes the entities in the value of an attribute. A decoded quote must not be taken for the end of the value. */
const attributeOf = (value: string) => decodeHTML(value).replaceAll('"', '\u0002');

function normalTag(tag: string): string {
  const [start, slash = '', name = ''] = /^<(\/?)([a-zA-Z][\w-]*)/.exec(tag) ?? [];
  if (start === undefined || !tag.endsWith('>')) return tag;
  const rest = tag.slice(start.length, tag.endsWith('/>') ? -2 : -1);
  const attributes = [...rest.matchAll(/([\w:-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)].map(
    ([, key = '', double, single, bare]) => {
      const value = double ?? single ?? bare;
      return value === undefined ? key.toLowerCase() : `${key.toLowerCase()}="${attributeOf(value)}"`;
    },
  );
  return `<${slash}${[name.toLowerCase(), ...attributes].join(' ')}>`;
}

/** A text that is split where it contains what may be an id: the odd parts are the digits. */
export type SplitText = readonly string[];

/** Matches an address in an attribute, from its quote to the next one. */
const ATTRIBUTE = /((?:href|src|cite|action)=")([^"]*)/g;
/** Matches digits that are a whole segment of a path, the beginning of one, or a value in a query. */
const ID_IN_ADDRESS = /(?<=[/=]|[a-z]-)(\d{1,19})(?=[/?&#."-]|$)/g;

/** Splits an address at its ids. */
export const splitAddress = (address: string): SplitText => address.split(ID_IN_ADDRESS);

/** Splits HTML at the ids in its addresses. Numbers in the text of a page are no ids. */
export function splitHtml(html: string): SplitText {
  const parts: string[] = [];
  let rest = '';
  let from = 0;
  for (const found of html.matchAll(ATTRIBUTE)) {
    const at = found.index + (found[1] ?? '').length;
    const [first = '', ...more] = splitAddress(found[2] ?? '');
    parts.push(rest + html.slice(from, at) + first);
    parts.push(...more);
    rest = parts.pop() ?? '';
    from = at + (found[2] ?? '').length;
  }
  parts.push(rest + html.slice(from));
  return parts;
}

/** Splits a slug at the digits at its ends, which may be an id. */
export const splitSlug = (slug: string): SplitText => slug.split(/(^\d{1,19}(?=-)|(?<=-)\d{1,19}$)/);

/** Returns the form of a text: what a value that changes by itself must still have in common. */
export function textForm(text: string, isDate: boolean): string {
  if (text.trim() === '') return 'empty';
  if (isDate) return 'date';
  if (/^-?\d{1,30}(?:\.\d{1,30})?$/.test(text)) return 'number';
  if (/^(?:https?:\/)?\/[^\s]*$/.test(text)) return 'address';
  return 'text';
}
