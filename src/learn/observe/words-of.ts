/** More words are a sentence, whose words are everybody's. */
const MOST = 5;

/** The words of somebody's name, however it is written: with accents, as an address, or as programmers join words. */
export function wordsOf(text: string): readonly string[] {
  // The words of an address of a page or a picture are the server's.
  if (/^\/|:\/\//.test(text)) return [];
  const [name = ''] = text.split('@', 1);
  const plain = name
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .replaceAll(/(\p{Ll})(?=\p{Lu})/gu, '$1 ');
  const words = plain.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
  return words.length > MOST ? [] : words;
}
