import { describe, expect, it } from 'vitest';
import { isHarmlessId } from '../../src/http/harmless-id.ts';

describe('the id that a client gives its request', () => {
  it.each([
    '3fa85f64-5717-4562-b3fc-2c963f66afa6',
    // Groups of four digits, as on a card.
    '76ce7207-4904-4698-9129-ed0c98d97fc6',
    '9F86D081884C7D659A2FEAA0C55AD015',
    '01J9ZC3QF5M2N8T7V4W6X1Y0AB',
    'req-2026-11-21-0001',
    '2026-11-21T10:00:00Z-7',
  ])('is repeated where it is one: %s', (id) => {
    expect(isHarmlessId(id)).toBe(true);
  });

  it.each([
    '4111-1111-1111-1111',
    '+49-170-1234567',
    '192.0.2.17',
    '2001:db8::7',
    'Basic:YWxpY2U6c2VjcmV0',
    'YWxpY2U6c2VjcmV0',
    'a-eyJhbGc_IUzI1Ni',
    'x'.repeat(129),
    '',
  ])('is not repeated where it may be something else: %s', (id) => {
    expect(isHarmlessId(id)).toBe(false);
  });
});
