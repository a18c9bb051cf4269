/** Control characters, and characters that hide text or change its direction. */
// oxlint-disable-next-line no-control-regex -- the pattern matches control characters on purpose
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\uffff]/g;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Returns the text on one line, with control characters replaced by escapes such as `\u001b`. */
export function plainText(text: string): string {
  return text.replaceAll(CONTROL, codeOf).replaceAll(LONE_SURROGATE, codeOf);
}

const codeOf = (character: string): string => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;

/**
 * Escapes text for use in the content and attributes of HTML and XML. Removes characters that XML 1.0 does not allow.
 */
export function escapeMarkup(text: string): string {
  return plainText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Wraps text at spaces into lines of at most `width` characters. Longer words are split. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((one) => pieces(one, width))) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, line];
}

function pieces(word: string, width: number): string[] {
  const count = Math.max(1, Math.ceil(word.length / width));
  return Array.from({ length: count }, (_, at) => word.slice(at * width, (at + 1) * width));
}

/** Colors text for a terminal, or returns it unchanged. */
export type Paint = (color: keyof typeof CODES, text: string) => string;

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;

/** Creates a function that colors text or, if `colors` is false, returns it unchanged. */
export function createPaint(colors: boolean): Paint {
  return (color, text) => (colors ? `\u001b[${CODES[color]}m${text}\u001b[0m` : text);
}
