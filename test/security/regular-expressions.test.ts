import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { UPSTREAM_DEFAULTS } from '../../src/engine/upstream/upstream-options.ts';
import { superLinear } from '../../src/lib/backtracking.ts';
import { patternsOf } from '../architecture/regular-expressions.ts';
import { readSources, type SourceFile } from '../../tools/structure.ts';

/*
 * The attack: a stranger, or a hostile upstream, sends a text for which matching a regular expression takes time that
 * grows with the square of its length. A path of 8,100 dots and a letter kept the event loop busy for 80 ms, before
 * authentication, because `/[. ]+$/` was tried at each dot. The checks below read the expressions and measure no time.
 *
 * The rule holds for all TypeScript files in `src`, so that nobody has to prove which texts a stranger can reach. The
 * console's pages are JavaScript: they run in the operator's browser, not in the gateway.
 */

const root = join(import.meta.dirname, '..', '..');
const files = readSources(join(root, 'src'));

const slowPatterns = (sources: readonly SourceFile[]) =>
  sources.flatMap((file) =>
    patternsOf(file).flatMap(({ source, flags, line }) => {
      const found = superLinear(source, flags);
      return found === undefined
        ? []
        : [`${file.path}:${line} /${source}/${flags}: repeating ${JSON.stringify(found.word)}`];
    }),
  );

describe('a regular expression of the gateway', () => {
  it('takes linear time for every text', { timeout: 120_000 }, () => {
    expect(slowPatterns(files)).toEqual([]);
  });

  it('is not built from text, except in the files where its text comes from the operator or from the code', () => {
    const built = files.filter(({ text }) => /\bnew RegExp\(|\bRegExp\(/.test(text)).map(({ path }) => path);
    expect(built.toSorted()).toEqual([
      // The `pattern` keywords of the contract, which the next test checks.
      'engine/config/config-schema.ts',
      'engine/contract/compile/schema-store.ts',
      'engine/contract/document/check-document.ts',
      'engine/contract/explain/compile-field-shape.ts',
      // Fixed text.
      'engine/contract/generate/generate-schemas.ts',
      'engine/scanner/merge-rules.ts',
      // The operator's messages, which are matched only against the first characters of a response.
      'engine/upstream/failures/permission-message.ts',
      // The escaped addresses of the legacy server, in which every repetition is limited.
      'engine/upstream/legacy-addresses.ts',
      // Fixed text.
      'learner/sample/sample-body.ts',
      // Fixed text without repetitions.
      'lib/http-date.ts',
      'lib/placeholder.ts',
      'reference/chaos/parse-chaos.ts',
    ]);
  });

  it('of the contract takes linear time for every text', () => {
    const patterns = new Set<string>();
    const collect = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, child] of Object.entries(value)) {
        if ((key === 'pattern' || key === 'x-expected-pattern') && typeof child === 'string') patterns.add(child);
        collect(child);
      }
    };
    collect(parse(readFileSync(join(root, 'schemas', 'openapi.yaml'), 'utf8')));
    expect(patterns.size).toBeGreaterThan(0);
    expect([...patterns].filter((pattern) => superLinear(pattern, 'u') !== undefined)).toEqual([]);
  });

  it('for permission messages takes linear time for every text, unless the operator writes another one', () => {
    const { permissionMessages } = UPSTREAM_DEFAULTS;
    expect(permissionMessages.filter((pattern) => superLinear(pattern, 'iu') !== undefined)).toEqual([]);
  });
});

describe('the check of regular expressions', () => {
  it('rejects a planted one, and names its file and line', () => {
    const planted = {
      path: 'lib/planted.ts',
      text: 'const a = 1;\nexport const END = (text: string) => text.replace(/[. ]+$/, "");',
    };
    expect(slowPatterns([planted])).toEqual(['lib/planted.ts:2 /[. ]+$/: repeating " "']);
  });

  // The expressions that the gateway once contained, and the other kinds.
  it.each([
    /\/+$/,
    /[?#].*$/s,
    /\{[^}]*\}/g,
    /(?:;|%3b).*$/i,
    /<!--.*?-->/gs,
    /\s*<br\b[^<>]*>\s*/gi,
    /<a(?:\s+[\w-]+\s*=[^<>]*)?\s*\/?>/gi,
    /<(script|style)\b[^>]*>.*?<\/script\s*>/gis,
    /^[^\p{Cc}]+:[^\p{Cc}]*$/u,
    /(?:^|\.)(?:.*password|.*secret)$/i,
    /(?<!\d)(?=(?:\d[-_.])*\d\d)\d{1,3}(?:[-_.]\d{1,3}){3}(?!\d)/,
    /Exception\b.*\n\s*at /,
    /^https?:\/\/[^/?#]+(?<rest>.*)$/i,
    /\/services(?:\/.*)?$/,
    /[^/?#\s]*@/,
    /[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*@/gi,
    /^(?:a+)+$/,
    /^(?:ab)*(?:ab)*$/,
    /(?:foo)+$/,
    /^\s*x/m,
    /[a-z]{1,5000}\d/,
  ])('rejects %s', (expression) => {
    expect(superLinear(expression.source, expression.flags)).toBeDefined();
  });

  it.each([
    /^[. ]+$/,
    /[. ]+/g,
    /[. ]+$/y,
    /\{[^{}]*\}/g,
    /<br\b[^<>]*>/i,
    /(?<![^/?#\s])[^/?#\s]*@/,
    /(?<=:\/\/)[^/?#\s]*@/g,
    /^(?=.*\d)[\da-f-]{8,}$/i,
    /(?:^|,)\s*no-cache\s*(?:,|$)/i,
    /^# HELP .*$/gm,
    /[a-z]{1,64}\d/,
  ])('accepts %s', (expression) => {
    expect(superLinear(expression.source, expression.flags)).toBeUndefined();
  });
});
