/** Control characters, and characters that change the direction of text or hide it. */
// oxlint-disable-next-line no-control-regex -- the pattern matches control characters on purpose
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\uffff]/g;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Returns the text on one line, with control characters as escapes such as `\u001b`. */
export function plainText(text: string): string {
  return text.replaceAll(CONTROL, codeOf).replaceAll(LONE_SURROGATE, codeOf);
}

const codeOf = (character: string): string => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;

/** Escapes text for the content and attributes of HTML and XML, and removes characters that XML 1.0 forbids. */
export function escapeMarkup(text: string): string {
  return plainText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Escapes text for a cell of a Markdown table so that it contains no markup, links, mentions or HTML. */
export function escapeMarkdown(text: string): string {
  return (
    plainText(text)
      .replaceAll(/[\\`*_{}[\]()#+!|~^$-]/g, String.raw`\$&`)
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      // Code hosts turn plain text into mentions, references and links; an empty comment prevents that.
      .replaceAll('@', '@<!-- -->')
      .replaceAll(String.raw`\#`, String.raw`\#<!-- -->`)
      .replaceAll('://', '&#58;//')
      .replaceAll('www.', 'www&#46;')
  );
}

/** Formats text as code in a cell of a Markdown table. */
export function markdownCode(text: string): string {
  if (text === '') return '';
  return `<code>${escapeMarkdown(text)}</code>`;
}
