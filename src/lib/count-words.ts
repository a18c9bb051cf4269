/** Formats a count with its noun: `1 request`, `3 requests`. */
export const countWords = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
