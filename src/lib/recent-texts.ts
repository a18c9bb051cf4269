const PLACES = 64;

/** Remembers the texts that were last made of a few small numbers, for texts that are needed more often than they change. */
export function createRecentTexts(make: (value: number) => string): (value: number) => string {
  const values: number[] = Array.from({ length: PLACES }, () => Number.NaN);
  const texts: string[] = Array.from({ length: PLACES }, () => '');
  return (value) => {
    const place = value & (PLACES - 1);
    if (values[place] !== value) {
      values[place] = value;
      texts[place] = make(value);
    }
    return texts[place] ?? '';
  };
}
