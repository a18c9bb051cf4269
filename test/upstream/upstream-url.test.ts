import { describe, expect, it } from 'vitest';
import { parseUpstreamUrl } from '../../src/upstream/upstream-url.ts';

const place = { source: 'UPSTREAM_URL', pointer: '' };

describe('the base address of the upstream', () => {
  it.each([
    ['http://qa.example', 'http://qa.example', ''],
    ['https://QA.example:8443/', 'https://qa.example:8443', ''],
    ['http://qa.example:80/real-answers//', 'http://qa.example', '/real-answers'],
    ['http://[::1]:8080/a/b.c/', 'http://[::1]:8080', '/a/b.c'],
    ['http://qa.example/a%20b', 'http://qa.example', '/a%20b'],
  ])('%s is taken apart', (text, origin, basePath) => {
    expect(parseUpstreamUrl(text, place)).toEqual({ address: { origin, basePath } });
  });

  it.each([
    ['http://user:secret@qa.example/', 'credentials'],
    ['http://user@qa.example/', 'credentials'],
    ['http://qa.example/?a=b', 'query'],
    ['http://qa.example/?', 'query'],
    ['http://qa.example/#x', 'fragment'],
    ['ftp://qa.example/', 'http:// or https://'],
    ['http://qa.example/a/../b', 'segments'],
    ['http://qa.example/%2e%2E/b', 'segments'],
    ['http://qa.example/a/.', 'segments'],
    ['http://qa.example\\a', 'backslash'],
    ['nonsense', 'absolute URL'],
    ['', 'absolute URL'],
    ['user_1:secret@qa.example', 'absolute URL'],
    ['user@corp:secret@qa.example', 'absolute URL'],
    ['//user:secret@qa.example', 'absolute URL'],
  ])('%s is refused for its %s', (text, word) => {
    const parsed = parseUpstreamUrl(text, place);
    expect(parsed).toEqual({
      faults: [{ ...place, message: expect.stringContaining(word) as string, ...suggestionOf(text) }],
    });
    expect(JSON.stringify(parsed)).not.toContain('secret');
  });

  it('is refused with every fault at once', () => {
    const parsed = parseUpstreamUrl('ftp://a@qa.example/../b?c#d', place);
    expect('faults' in parsed && parsed.faults).toHaveLength(5);
  });
});

function suggestionOf(text: string): { suggestion?: string } {
  return text === 'nonsense' ? { suggestion: 'http://nonsense' } : {};
}
