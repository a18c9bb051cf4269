/** A metric in a scrape. */
export interface ScrapedFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  /** The series, by their names and labels as they are written. */
  readonly samples: ReadonlyMap<string, Sample>;
}

interface Sample {
  readonly value: number;
  /** The exemplar as it is written, without the number sign. */
  readonly exemplar: string | undefined;
}

const HEAD = /^# (HELP|TYPE) (\w+) (.*)$/;
const SAMPLE = /^(\w+)(\{(?:\w+="(?:[^"\\]|\\[\\n"])*",?)*\})? (\S+)(?: # (\{.*\} \S+ \S+))?$/;
const SUFFIX = /_(?:total|bucket|sum|count)$/;

/**
 * Reads the metrics of a scrape in Prometheus's text format or in the OpenMetrics format, by name. Throws an error if a
 * line has neither form, if a series occurs twice, or if the series of a metric do not follow its own HELP and TYPE
 * lines.
 */
export function readExposition(text: string): ReadonlyMap<string, ScrapedFamily> {
  const families = new Map<string, ScrapedFamily>();
  let current: (ScrapedFamily & { type: string; samples: Map<string, Sample> }) | undefined;
  for (const line of text.split('\n')) {
    if (line === '' || line === '# EOF') continue;
    const [, kind, name = '', rest = ''] = HEAD.exec(line) ?? [];
    if (kind === 'HELP') {
      if (families.has(name)) throw new Error(`${name} occurs twice`);
      current = { name, type: '', help: rest, samples: new Map() };
      families.set(name, current);
    } else if (kind === 'TYPE') {
      if (current?.name !== name) throw new Error(`${name} has no HELP line before its TYPE line`);
      current.type = rest;
    } else {
      const [, series = '', labels = '', value = '', exemplar] = SAMPLE.exec(line) ?? [];
      if (series === '') throw new Error(`not a sample: ${line}`);
      const owners = [series, series.replace(SUFFIX, '')];
      if (current === undefined || !owners.includes(current.name)) throw new Error(`out of place: ${line}`);
      if (current.samples.has(series + labels)) throw new Error(`occurs twice: ${line}`);
      current.samples.set(series + labels, { value: Number(value), exemplar });
    }
  }
  return families;
}
