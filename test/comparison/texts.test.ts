import { describe, expect, it } from 'vitest';
import { matchDates, readDate, zoneClock } from '../../src/comparison/dates.ts';
import { canonicalNumber, idText, numberForm, readJson, WrittenNumber } from '../../src/comparison/exact-values.ts';
import { normalHtml, splitAddress, splitHtml, splitSlug, withoutOwnAddress } from '../../src/comparison/texts.ts';

const utc = zoneClock('UTC');
function match(a: string, b: string, zoneA = 'UTC', zoneB = 'UTC') {
  const [x, y] = [readDate(a), readDate(b)];
  if (x === undefined || y === undefined) throw new Error('not a date');
  return matchDates([x, a, zoneClock(zoneA)], [y, b, zoneClock(zoneB)]);
}

describe('dates', () => {
  it.each([
    ['02/06/2019 03:01 PM', '2019-02-06T15:01Z', 'zone'],
    ['02/06/2019 03:01 PM', '2019-02-06 15:01', 'form'],
    ['02/06/2019 12:01 AM', '2019-02-06 00:01', 'form'],
    ['2019-02-06 15:01:00.0', 'Wed Feb 06 15:01:00 UTC 2019', 'zone'],
    ['Thu Feb 07 15:05:50 UTC 2019', 'Thu, 07 Feb 2019 15:05:50 GMT', 'form'],
    ['2019-02-07T15:05:50.000+0000', '2019-02-07T16:05:50+01:00', 'zone'],
    ['02/06/2019 03:01 PM', '02/06/2019 03:02 PM', 'different'],
    ['2019-02-06 15:01:00.1', '2019-02-06 15:01:00.2', 'different'],
    ['2019-02-06T15:01:00Z', '2019-02-06T15:01:00+01:00', 'different'],
  ])('%s and %s: %s', (a, b, expected) => expect(match(a, b)).toBe(expected));

  it('uses the zones of the servers, also when clocks change', () => {
    expect(match('07/06/2019 03:01 PM', '2019-07-06 17:01', 'UTC', 'Europe/Berlin')).toBe('zone');
    expect(match('02/06/2019 03:01 PM', '2019-02-06 16:01', 'UTC', 'Europe/Berlin')).toBe('zone');
    expect(match('02/06/2019 03:01 PM', '02/06/2019 03:01 PM', 'UTC', 'Europe/Berlin')).toBe('different');
    expect(() => zoneClock('Nowhere/Town')).toThrow(RangeError);
  });

  it.each([
    '02/30/2019 03:01 PM',
    'yesterday',
    '',
    '2019-13-01',
    'Thu Feb 07 15:05:50 XYZ 2019',
    `2019-02-06${' '.repeat(99)}`,
  ])('does not take %j for a date', (text) => expect(readDate(text)).toBeUndefined());

  it('keeps a fixed offset', () => expect(zoneClock('+01:00')(utc(3_600_000))).toBe(0));
});

describe('numbers', () => {
  it.each([
    ['1', '1.0', true],
    ['10', '1e1', true],
    ['-0.50', '-5e-1', true],
    ['0', '0.000', true],
    ['9007199254740993', '9007199254740992', false],
    ['1', '-1', false],
    ['1', '10', false],
  ])('%s and %s: the same is %s', (a, b, same) => {
    const [x, y] = [a, b].map((source) => canonicalNumber(new WrittenNumber(source)));
    expect(x === y).toBe(same);
  });

  it('keeps what a double would round', () => {
    const read = readJson(Buffer.from('{"id":9007199254740993,"n":1.0,"m":12}'));
    if (typeof read === 'string') throw new Error(read);
    expect(read.value).toEqual({ id: new WrittenNumber('9007199254740993'), n: new WrittenNumber('1.0'), m: 12 });
  });

  it('are the same id in any form', () =>
    expect(['12', '12.0', '120e-1', '1.2E1', '12.5'].map((source) => idText(new WrittenNumber(source)))).toEqual([
      '12',
      '12',
      '12',
      '12',
      '12.5',
    ]));

  it('tells fractions and signs apart', () =>
    expect(['3', '3.0', '3.5', '-3'].map((source) => numberForm(new WrittenNumber(source)))).toEqual([
      'integer',
      'integer',
      'fraction',
      'negative integer',
    ]));
});

describe('HTML', () => {
  it.each([
    ['<p>a b</p>', '\n <p>\n  a   b </p>\n', true],
    ['<p>it&#39;s</p>', "<p>it's</p>", true],
    ["<a href='/x'>y</a>", '<A HREF="/x" >y</A>', true],
    ['<br/>a', '<br>a', true],
    ['<b>a</b> <b>b</b>', '<b>a</b><b>b</b>', false],
    ['<pre>a  b</pre>', '<pre>a b</pre>', false],
    ['<p>a</p><pre>a\n  b</pre><p>b</p>', '<p>a</p>\n<pre>a\n  b</pre>\n <p> b</p>', true],
    ['<p>a&nbsp;b</p>', '<p>a b</p>', false],
    ['<p>a&nbsp;b</p>', '<p>a\u00a0b</p>', true],
    ['<a title="x&quot; on=&quot;y">', '<a title="x" on="y">', false],
    ['<a title="&quot;">', "<a title='\"'>", true],
    ['&lt;b&gt;', '<b>', false],
    ['<p>a</p>', '<div>a</div>', false],
  ])('%j and %j: the same is %s', (a, b, same) => expect(normalHtml(a) === normalHtml(b)).toBe(same));

  it('has ids only in its addresses', () => {
    expect(splitHtml('<p>118 <a href="/questions/118/why?page=2">118</a></p>')).toEqual([
      '<p>118 <a href="/questions/',
      '118',
      '/why?page=',
      '2',
      '">118</a></p>',
    ]);
    expect(splitAddress('/a/7-b/v2/x.png')).toEqual(['/a/', '7', '-b/v2/x.png']);
    expect(splitSlug('why-does-it-fail-118')).toEqual(['why-does-it-fail-', '118', '']);
    expect(splitSlug('118-why')).toEqual(['', '118', '-why']);
  });

  it('takes linear time', () => {
    const started = performance.now();
    normalHtml(`${'<a '.repeat(100_000)}${'<p'.repeat(100_000)}`);
    splitHtml('href="'.repeat(100_000));
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});

it('removes the own address of a server, and no other', () => {
  const server = { own: ['http://qa.example.org/qa', 'http://qa.example.org'], basePath: '/qa' };
  expect(withoutOwnAddress('see http://qa.example.org/qa/x and http://qa.example.org.evil/x', server)).toBe(
    'see /x and http://qa.example.org.evil/x',
  );
  expect(withoutOwnAddress('/qa/x', server)).toBe('/x');
  expect(withoutOwnAddress('/qax', server)).toBe('/qax');
});
