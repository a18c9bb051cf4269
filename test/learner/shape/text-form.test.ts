import { describe, expect, it } from 'vitest';
import { formPattern, TEXT_FORMS, textForm } from '../../../src/learner/shape/text-form.ts';

describe('textForm', () => {
  it.each([
    ['', 'empty'],
    ['02/06/2019 03:01 PM', 'formatted-date'],
    ['02/06/2019 15:01', 'schedule-date'],
    ['2019-02-06 15:01:00.0', 'stored-date'],
    ['Thu Feb 07 15:05:50 UTC 2019', 'spoken-date'],
    ['2019-02-06T15:01:00.000+0100', 'date-time'],
    ['2019-02-06', 'date'],
    ['3F2504E0-4f89-41d3-9a0c-0305e82c3301', 'uuid'],
    ['https://qa.example/a?b=c', 'url'],
    ['/storage/attachments/7', 'path'],
    ['write to jana@example.org, please', 'e-mail'],
    ['192.0.2.7', 'ip'],
    ['2001:db8::1', 'ip'],
    ['+420 777 123 456', 'phone'],
    ['-42', 'digits'],
    ['a <b>bold</b> word', 'html'],
    ['eyJhbGciOiJIUzI1NiJ9.e30.x', 'secret'],
    ['A dark theme', 'plain'],
  ])('describes %j: %s', (text, form) => {
    expect(textForm(text)).toBe(form);
  });

  it('tests only the beginning of a long text', () => {
    expect(textForm('a'.repeat(5_000_000))).toBe('plain');
    expect(textForm('a@'.repeat(100_000))).toBe('plain');
  });
});

describe('formPattern', () => {
  it('accepts every text of its form', () => {
    const samples = [
      '02/06/2019 03:01 PM',
      '2019-02-06',
      '3F2504E0-4f89-41d3-9a0c-0305e82c3301',
      '2019-02-06 15:01:00.0',
    ];
    for (const text of samples) {
      const pattern = formPattern(textForm(text));
      expect(new RegExp(pattern ?? 'never', 'u').test(text)).toBe(true);
    }
  });

  it('exists only for dates and ids, because the next text could break a looser pattern', () => {
    const strict = TEXT_FORMS.map(({ name }) => name).filter((name) => formPattern(name) !== undefined);
    expect(strict).toEqual(['formatted-date', 'schedule-date', 'stored-date', 'spoken-date', 'date', 'uuid']);
  });
});
