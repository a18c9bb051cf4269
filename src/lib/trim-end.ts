/**
 * Returns the text without the given characters at its end. An expression such as `/[. ]+$/` would do the same, but its
 * time grows with the square of the text's length, because the engine tries it at every position.
 */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
