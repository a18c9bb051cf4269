import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkLongUploadCsv, checkUploadCsv, CSV_PART_LENGTH } from '../../../src/profile/gdpr/check-upload-csv.ts';

const check = (content: string, limits = {}) => checkUploadCsv(content, { maxRows: 100, ...limits });
const faults = (content: string, limits = {}) =>
  check(content, limits).details.map(({ row, message }) => `${row ?? '-'}: ${message}`);
const mails = (count: number) => `email\n${'x\n'.repeat(count)}`;
const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;

describe('the CSV of an upload', () => {
  it.each([
    ['email', 'email\na@example.org'],
    ['userId', 'userId\n18'],
    ['username', 'username\npz03'],
    ['userId,username with empty cells', 'userId,username\n,pz03\n18,\n19,x'],
    ['the two columns in the other order', 'username,userId\npz03,\n,18'],
    ['a final newline', 'email\na@example.org\n'],
    ['CRLF', 'email\r\na@example.org\r\nb@example.org\r\n'],
    ['a byte order mark', '\uFEFFemail\na@example.org'],
    ['blank last lines', 'email\na@example.org\n\n\n'],
    ['blank last lines with CRLF', 'userId,username\r\n18,\r\n\r\n\r\n'],
    ['quoted cells', '"userId","username"\n"18","a ""b"", c"'],
    ['a quoted line break', 'username\n"a\nb"\n"c\r\nd"'],
    ['text beyond ASCII', 'username\nŽofie 😀'],
  ])('may have %s', (_, content) => {
    expect(faults(content)).toEqual([]);
  });

  it.each([
    'mail',
    'Email',
    ' email',
    'email,username',
    'userId,email',
    'userId,username,email',
    'userId,userId',
    'email,',
    '',
    '"userId,username"',
  ])('may not have the header %j', (header) => {
    expect(faults(`${header}\nx`)[0]).toBe(
      '1: the header must be email, userId, username, or userId and username together',
    );
  });

  it.each([
    ['userId;username\n1;x', 'the cells are separated by semicolons; separate them with commas'],
    ['"userId";"username"\r\n"1";"x"', 'the cells are separated by semicolons; separate them with commas'],
    ['\uFEFFUserName;UserId\nx;1', 'the cells are separated by semicolons; separate them with commas'],
    ['userId\tusername\n1\tx', 'the cells are separated by tabs; separate them with commas'],
    ['"userId"\t"username"\n1\tx', 'the cells are separated by tabs; separate them with commas'],
    ['userId|username\n1|x', 'the cells are separated by vertical bars; separate them with commas'],
    ['sep=;\nuserId;username\n1;x', 'the first line names a separator (sep=); remove the line'],
    ['"sep=,"\r\nuserId,username\r\n1,x', 'the first line names a separator (sep=); remove the line'],
    ['SEP=\t\nuserId\tusername', 'the first line names a separator (sep=); remove the line'],
    ['#version: 2\nemail\na@example.org', 'the first line is a version or comment line; remove the line'],
    ['Version;2\nuserId;username', 'the first line is a version or comment line; remove the line'],
    ['My export of users\nemail\na@example.org', 'the first line is not the header, which is in the second line'],
  ])('says what is wrong above and in the header: %j', (content, message) => {
    const [first] = faults(content);
    expect(first).toContain(`1: ${message}`);
    expect(first).not.toContain('export of users');
  });

  it.each(['x', '1.0', '1e3', '-1', '+1', '0x1F', '9223372036854775808', '1 2', '１', '12345678901234567890'])(
    'may not have the userId %j, which the server would ignore',
    (id) => {
      const expected = 'the userId is not an integer, so the server would ignore the row';
      expect(faults(`userId\n1\n${id}`)).toEqual([`3: ${expected}`]);
      expect(faults(`username,userId\nx,${id}\ny,`)).toEqual([`2: ${expected}`]);
      expect(JSON.stringify(check(`userId\n${id}x`))).not.toContain(`${id}x`);
    },
  );

  it.each(['0', '1', ' 18 ', '9223372036854775807', '007'])('may have the userId %j', (id) => {
    expect(faults(`userId\n${id}`)).toEqual([]);
  });

  it('has the same identity in any form, and another with other rows', () => {
    const identity = (content: string) => check(content).identity;
    const same = [
      'userId,username\n1,x\n,y',
      '\uFEFFuserId,username\r\n1,x\r\n,y\r\n\r\n',
      '"username","userId"\n"x","1"\n"y",""\n',
    ];
    expect(new Set(same.map(identity)).size).toBe(1);
    const others = ['userId,username\n1,x', 'userId,username\n,y\n1,x', 'userId,username\n1,\nx,y', 'username\nx\ny'];
    expect(new Set([...others, same[0] ?? ''].map(identity)).size).toBe(others.length + 1);
    expect(identity('email\n"x')).toBeUndefined();
    expect(checkUploadCsv('email\na\nb', { maxRows: 1 }).identity).toBeUndefined();
  });

  it('gets a suggestion for a misspelled column', () => {
    expect(check('UserID , Username\n1,x').details[0]?.suggestion).toBe('userId,username');
    expect(check('Email\nx').violations[0]?.suggestion).toBe('email');
    expect(check('a@example.org\nx').details[0]).not.toHaveProperty('suggestion');
  });

  it('must have at least one non-empty cell per row', () => {
    expect(faults('userId,username\n1,\n,\n , \n,x')).toEqual([
      '3: all cells of the row are empty',
      '4: all cells of the row are empty',
    ]);
    expect(faults('email\n\na@example.org')).toEqual(['2: all cells of the row are empty']);
  });

  it('must have as many cells in each row as in the header', () => {
    expect(faults('userId,username\n1\n1,2,3')).toEqual([
      '2: the row has fewer cells than the header',
      '3: the row has more cells than the header',
    ]);
    expect(faults('email\na,b')).toEqual(['2: the row has more cells than the header']);
  });

  it('counts rows as records: a quoted line break does not start one', () => {
    expect(faults('userId,username\n1,"a\nb\nc"\n,')).toEqual(['3: all cells of the row are empty']);
  });

  it('must have a row below its header', () => {
    expect(faults('')).toEqual(['-: the upload is empty: a header and at least one row are needed']);
    expect(faults('\uFEFF')).toEqual(['-: the upload is empty: a header and at least one row are needed']);
    expect(faults('email\n')).toEqual(['-: the upload has no row below its header']);
  });

  it.each([
    ['email\n"a', '2: a quoted cell of the row is not closed'],
    ['email\nx\n"a"b', '3: text follows the closing quote of a cell of the row'],
    ['email\na"b', '2: an unquoted cell of the row contains a quote'],
  ])('is well-formed: %j', (content, message) => {
    expect(faults(content)).toEqual([message]);
  });

  it('does not treat a lone CR as the end of a row', () => {
    expect(faults('email\ra@example.org\r')[0]).toMatch(/^1: the header/);
  });

  it('is bounded in rows, in the length of a row and in errors', () => {
    expect(faults(mails(100))).toEqual([]);
    expect(faults(mails(101))).toEqual(['-: the upload has more than 100 rows below its header']);
    expect(faults(mails(5000))).toHaveLength(1);
    expect(check(mails(5000)).rows).toBe(100);
    expect(faults(`email\n${'x'.repeat(9990)}`)).toEqual([]);
    expect(faults(`email\n${'x'.repeat(10_010)}`)).toEqual(['2: the row is too long']);
    expect(faults(`userId,username\n${',\n'.repeat(90)}`)).toHaveLength(20);
  });

  it('has violations of the check requests and details of the same errors', () => {
    const { violations, details, rows } = check('userId,username\n,\n18,\n');
    expect(violations).toEqual([
      {
        check: 'requests',
        direction: 'request',
        category: 'missing',
        location: 'body',
        at: '/content',
        keyword: 'gdpr-csv-empty',
        schemaPath: '',
        message: 'all cells of the row are empty',
      },
    ]);
    expect(details).toEqual([{ in: 'body', name: '/content', row: 2, message: 'all cells of the row are empty' }]);
    expect(rows).toBe(2);
  });

  it('has different keywords for different errors', () => {
    const keywords = ['phone\n1\n', 'email\n\nx\n', 'email\na,b\n', mails(101)].map(
      (content) => check(content).violations[0]?.keyword,
    );
    expect(keywords).toEqual(['gdpr-csv-header', 'gdpr-csv-empty', 'gdpr-csv-row', 'gdpr-csv-rows']);
  });

  it.each(['', '\n\n', 'email', 'email\n\n', 'userId,username\n,\n,\n'])('has no user: %j', (content) => {
    const { violations } = check(content);
    expect(new Set(violations.map(({ keyword }) => keyword))).toEqual(new Set(['gdpr-csv-no-user']));
  });

  // The attack: an upload that consists almost entirely of line breaks. Searching it with a pattern for blank lines
  // would take quadratic time.
  it('is read in linear time if it consists of line breaks', () => {
    expect(faults(`email\n${'\n'.repeat(1_000_000)}x`, { maxRows: 10 })).toContain(
      '-: the upload has more than 10 rows below its header',
    );
    expect(faults(`email\nx${'\n'.repeat(1_000_000)}`, { maxRows: 10 })).toEqual([]);
  });

  it('is never quoted in messages', () => {
    const secret = 'secret-7731';
    const cell = fc.constantFrom(secret, `"${secret}`, `${secret}"`, `"${secret}"${secret}`, `${secret},${secret}`, '');
    fc.assert(
      fc.property(
        fc.array(cell, { maxLength: 6 }),
        fc.constantFrom('email', secret, 'userId,username'),
        (rows, header) => {
          expect(JSON.stringify(check([header, ...rows].join('\n')))).not.toContain('7731');
        },
      ),
    );
  });

  it('is accepted in any form that a correct CSV writer produces', () => {
    const id = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String);
    const cell = fc
      .string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'ž'), minLength: 1 })
      .filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(id, fc.option(cell, { nil: '' })), { minLength: 1 }),
        fc.boolean(),
        (rows, crlf) => {
          const lines = [['userId', 'username'], ...rows].map((cells) => cells.map(quote).join(','));
          const result = check(lines.join(crlf ? '\r\n' : '\n'));
          expect([result.details, result.rows]).toEqual([[], rows.length]);
        },
      ),
    );
  });
});

describe('a long CSV', () => {
  const limits = { maxRows: 10_000 };

  it('is checked in parts of whole rows, with the same result', async () => {
    const rows = Array.from({ length: 9000 }, (_, at) => `"name ${at},\nwith ""quotes"" and a line break"`);
    rows[7000] = 'a,b';
    rows[8000] = '""';
    const content = `username\n${rows.join('\r\n')}`;
    expect(content.length).toBeGreaterThan(4 * CSV_PART_LENGTH);
    const checked = await checkLongUploadCsv(content, limits);
    expect(checked).toEqual(checkUploadCsv(content, limits));
    expect(checked.rows).toBe(9000);
    expect(checked.details.map(({ row, message }) => `${row}: ${message}`)).toEqual([
      '7002: the row has more cells than the header',
      '8002: all cells of the row are empty',
    ]);
  });

  // The attack: a very long row. It used to block the event loop for a second, because csv-parse first collects all the
  // cells in a row. The last line of the file shows that nothing after such a row is read.
  it.each([
    ['cells', `email\n${','.repeat(1_000_000)}\na,b`, '2: the row has more cells than the header'],
    ['cells in the header', `${','.repeat(1_000_000)}\na,b`, '1: the header must be email, userId,'],
    ['characters', `email\n${'x'.repeat(1_000_000)}\na,b`, '2: the row is too long'],
    ['quoted characters', `email\n"${'""\n'.repeat(300_000)}"\na,b`, '2: the row is too long'],
  ])('is not read any further after a row with too many %s', async (_what, content, message) => {
    for (const { details } of [checkUploadCsv(content, limits), await checkLongUploadCsv(content, limits)]) {
      expect(details).toHaveLength(1);
      expect(`${details[0]?.row}: ${details[0]?.message}`).toContain(message);
    }
  });

  it('lets other work continue between its parts', async () => {
    let turns = 0;
    const count = () => {
      turns += 1;
      if (!isChecked) setImmediate(count);
    };
    let isChecked = false;
    setImmediate(count);
    await checkLongUploadCsv(`email\n${`${'x'.repeat(99)}\n`.repeat(9000)}`, limits);
    isChecked = true;
    expect(turns).toBeGreaterThanOrEqual(Math.floor(900_000 / CSV_PART_LENGTH));
  });
});
