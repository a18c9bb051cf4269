const PLACES = 64;

/** Caches the texts of the latest small numbers, for texts that are used more often than they change. */
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
