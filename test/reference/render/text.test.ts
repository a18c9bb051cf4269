import { describe, expect, it } from 'vitest';
import {
  parseScheduleTime,
  toFormattedDate,
  toScheduleTime,
  toStoredDate,
  toWeekdayDate,
} from '../../../src/reference/render/text.ts';

const AT = Date.UTC(2019, 1, 7, 15, 5, 50, 120);

describe('date forms', () => {
  it('prints the five forms of the specification', () => {
    expect(toFormattedDate(AT)).toBe('02/07/2019 03:05 PM');
    expect(toStoredDate(AT)).toBe('2019-02-07 15:05:50.12');
    expect(toStoredDate(Date.UTC(2019, 1, 6, 15, 1))).toBe('2019-02-06 15:01:00.0');
    expect(toWeekdayDate(AT)).toBe('Thu Feb 07 15:05:50 UTC 2019');
    expect(toScheduleTime(AT)).toBe('02/07/2019 15:05');
  });

  it('prints midnight and noon with 12', () => {
    expect(toFormattedDate(Date.UTC(2020, 0, 1, 0, 5))).toBe('01/01/2020 12:05 AM');
    expect(toFormattedDate(Date.UTC(2020, 0, 1, 12, 5))).toBe('01/01/2020 12:05 PM');
  });

  it('parses the schedule time that it prints', () => {
    expect(parseScheduleTime('02/07/2019 15:05')).toBe(Date.UTC(2019, 1, 7, 15, 5));
  });

  it.each(['02/30/2019 10:00', '13/01/2019 10:00', '2/7/2019 10:00', '02/07/2019', '02/07/2019 24:00', 'x'])(
    'refuses %s as a schedule time',
    (text) => {
      expect(parseScheduleTime(text)).toBeUndefined();
    },
  );
});
