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

/** Creates a function that colors text, or one that returns it unchanged. */
export function createPaint(colors: boolean): Paint {
  return (color, text) => (colors ? `\u001b[${CODES[color]}m${text}\u001b[0m` : text);
}
