import { describe, expect, it } from 'vitest';
import { bodyFactsOf } from '../../../src/engine/pipeline/body-facts.ts';
import { createKnownBodies, type KnownBody, type KnownBodies } from '../../../src/engine/pipeline/known-bodies.ts';
import { plannedWith } from '../../builders/exchange.ts';

describe('known responses', () => {
  const look = (text: string) => ({ status: 200, mediaType: 'application/json', bytes: Buffer.from(text) });
  const knownBody = (text: string, bytes = Buffer.from(text)): KnownBody => ({
    ...look(text),
    bytes,
    facts: bodyFactsOf(plannedWith(), undefined),
    authors: [['1', text]],
    namesUpstream: false,
    reported: [],
  });

  const body = (id: string) => id.padEnd(6000, 'x');

  /**
   * Creates a `KnownBodies` that stores each response immediately. Normally, a response is stored only when its key
   * occurs for the second time.
   */
  function createSeenBodies(maxBytes?: number): KnownBodies {
    const known = createKnownBodies(maxBytes);
    return {
      find: (key, one) => known.find(key, one),
      remember(key, one) {
        known.remember(key, one);
        known.remember(key, one);
      },
    };
  }

  it('are stored when their key occurs a second time, not the first', () => {
    const known = createKnownBodies();
    known.remember('a', knownBody('body'));
    expect(known.find('a', look('body'))).toBeUndefined();
    known.remember('a', knownBody('body'));
    expect(known.find('a', look('body'))).toBeDefined();
  });

  it('are found if every byte, the status and the media type are equal', () => {
    const known = createSeenBodies();
    known.remember('a', knownBody('body'));
    expect(known.find('a', look('body'))?.authors).toEqual([['1', 'body']]);
    expect(known.find('b', look('body'))).toBeUndefined();
    expect(known.find('a', look('bodY'))).toBeUndefined();
    expect(known.find('a', look('body '))).toBeUndefined();
    expect(known.find('a', { ...look('body'), status: 203 })).toBeUndefined();
    expect(known.find('a', { ...look('body'), mediaType: undefined })).toBeUndefined();
  });

  it('contain only the last response of each key', () => {
    const known = createSeenBodies();
    known.remember('a', knownBody('first'));
    known.remember('a', knownBody('second'));
    expect(known.find('a', look('first'))).toBeUndefined();
    expect(known.find('a', look('second'))).toBeDefined();
  });

  it('are stored only occasionally while a list changes each time, and immediately once it is stable', () => {
    const known = createKnownBodies();
    known.remember('a', knownBody('before'));
    const fetch = (text: string) => {
      const found = known.find('a', look(text)) !== undefined;
      if (!found) known.remember('a', knownBody(text));
      return found;
    };
    for (let number = 0; number < 40; number += 1) expect(fetch(`body ${number}`)).toBe(false);
    // The thirty-third response was the last to be stored.
    expect(known.find('a', look('body 32'))).toBeDefined();
    expect(fetch('at rest')).toBe(false);
    expect(fetch('at rest')).toBe(true);
  });

  it('are dropped in least recently used order when the bound is exceeded', () => {
    const known = createSeenBodies(100_000);
    const ids = Array.from({ length: 20 }, (_, at) => String(at));
    ids.forEach((id) => known.remember(id, knownBody(body(id))));
    const found = ids.filter((id) => known.find(id, look(body(id))) !== undefined);
    expect(found.length).toBeLessThan(10);
    expect(found).toEqual(['11', '12', '13', '14', '15', '16', '17', '18', '19'].slice(-found.length));
    expect(found).toContain('19');
  });

  it('do not include a body that would displace many others', () => {
    const known = createSeenBodies(100_000);
    const text = 'x'.repeat(50_000);
    known.remember('a', knownBody(text));
    expect(known.find('a', look(text))).toBeUndefined();
  });

  it('copy small bodies out of the large buffer that contains them', () => {
    const known = createSeenBodies(100_000);
    const large = Buffer.from('body'.padEnd(90_000));
    known.remember('a', knownBody('body', large.subarray(0, 4)));
    expect(known.find('a', look('body'))?.bytes.buffer.byteLength).toBe(4);
  });
});
