/** Characters that a terminal, a browser or an editor acts on instead of showing them: controls, and those that turn or hide text. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const ACTING = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\uffff]/g;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** The text on one line with nothing in it that acts: what would is written as `\u001b`. */
export function plainText(text: string): string {
  return text.replaceAll(ACTING, codeOf).replaceAll(LONE_SURROGATE, codeOf);
}

const codeOf = (character: string): string => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;

/** The text for the content and the attributes of HTML and XML, without any character that XML 1.0 forbids. */
export function escapeMarkup(text: string): string {
  return plainText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** The text inside a cell of a Markdown table: nothing in it is a mark, a link, a mention or HTML. */
export function escapeMarkdown(text: string): string {
  return (
    plainText(text)
      .replaceAll(/[\\`*_{}[\]()#+!|~^$-]/g, String.raw`\$&`)
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      // Hosts make mentions, references and links of plain text; an empty comment in between keeps them from it.
      .replaceAll('@', '@<!-- -->')
      .replaceAll(String.raw`\#`, String.raw`\#<!-- -->`)
      .replaceAll('://', '&#58;//')
      .replaceAll('www.', 'www&#46;')
  );
}

/** The text as code in a cell of a Markdown table. */
export function markdownCode(text: string): string {
  if (text === '') return '';
  return `<code>${escapeMarkdown(text)}</code>`;
}
