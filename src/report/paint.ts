/** Colours a text for a terminal, or leaves it as it is. */
export type Paint = (colour: keyof typeof CODES, text: string) => string;

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;

/** A painter for terminals that show colours, or one that leaves everything as it is. */
export function createPaint(colours: boolean): Paint {
  return (colour, text) => (colours ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text);
}
