import { describe, expect, it } from 'vitest';
import { compileFieldShape } from '../../src/contract/explain/compile-field-shape.ts';
import { findUnmetExpectations } from '../../src/contract/explain/advisories.ts';
import type { SchemaObject } from '../../src/contract/openapi-document.ts';
import { DEFAULT_JSON_LIMITS } from '../../src/lib/bounded-json.ts';
import { openScanner } from '../../src/scanner/open-scanner.ts';
import { contract } from './sample.ts';

/** Common years and leap years, including centuries. */
const YEARS = [1900, 1999, 2000, 2004, 2018, 2020, 2100];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const DAYS: readonly Day[] = YEARS.flatMap((year) =>
  Array.from({ length: 14 }, (_, month) => Array.from({ length: 33 }, (__, day): Day => ({ year, month, day }))).flat(),
);

const two = (number: number) => String(number).padStart(2, '0');
const exists = ({ year, month, day }: Day) => {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};
const american = ({ year, month, day }: Day) => `${two(month)}/${two(day)}/${year}`;
const iso = ({ year, month, day }: Day) => `${year}-${two(month)}-${two(day)}`;
const spoken = ({ year, month, day }: Day) => `Sat ${MONTHS[month - 1] ?? 'Foo'} ${two(day)} 23:59:59 CET ${year}`;

const TEXTS: readonly (readonly [field: string, resource: string, text: (day: Day) => string])[] = [
  ['creationDateFormatted', 'formatted-date', (day) => `${american(day)} 12:59 PM`],
  ['actionDate', 'action-date', (day) => `${iso(day)} 23:59:59.5`],
  ['actionDate', 'action-date', spoken],
  ['canceledDate', 'canceled-date', spoken],
  ['scheduleTime', 'schedule-time', (day) => `${american(day)} 23:59`],
  ['created', 'tracker-attachment', (day) => `${iso(day)}T23:59:59.999+0530`],
];

describe.each(TEXTS)('the form of %s (resources/%s)', (field, resource, textOf) => {
  const file = `resources/${resource}.schema.json`;
  const whole = contract.schemas.get(file) ?? {};
  const schema = (whole.properties?.[field] ?? whole) as SchemaObject;
  const departing = DAYS.filter((day) => !exists(day)).map(textOf);

  it('contains exactly the dates that exist in the calendar', () => {
    const shape = compileFieldShape(new Map([[file, schema]]), file);
    expect(DAYS.map(textOf).filter((text) => findUnmetExpectations(shape, text).length > 0)).toEqual(departing);
  });

  it('is the same for the scanner', () => {
    const scanner = openScanner(DEFAULT_JSON_LIMITS).compile({
      schemas: new Map(),
      schema: { schema, path: file },
      excerpt: [],
    });
    const departs = (text: string) =>
      scanner.scan(Buffer.from(JSON.stringify(text)))?.differences.departures.length !== 0;
    expect(DAYS.map(textOf).filter(departs)).toEqual(departing);
  });

  it('has hours, minutes and seconds in range', () => {
    const pattern = new RegExp(schema['x-expected-pattern'] ?? '', 'u');
    const text = textOf({ year: 2020, month: 2, day: 29 });
    expect(text).toMatch(pattern);
    for (const time of ['24:59', '13:60', '25:00']) expect(text.replace(/\d\d:\d\d/, time)).not.toMatch(pattern);
  });
});
