interface RawJson {
  rawJSON(text: string): unknown;
}

/** A JSON value written as the given text, so that integers beyond 2^53 keep every digit. */
export function rawJson(text: string): unknown {
  return (JSON as unknown as RawJson).rawJSON(text);
}

/** The elements of a flat JSON array of integers, each as a raw value. */
export function rawIntegers(arrayText: string): unknown[] {
  return (arrayText.match(/\d+/g) ?? []).map(rawJson);
}
