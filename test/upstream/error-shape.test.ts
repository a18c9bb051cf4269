import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { errorShape } from '../../src/upstream/error-shape.ts';

const shapeOf = (body: string | Readable, type = 'application/json') =>
  errorShape({
    status: 500,
    headers: [['Content-Type', type]],
    body: typeof body === 'string' ? Buffer.from(body) : body,
  });

describe('the shape of an error answer', () => {
  it.each([
    ['error', '{"error":"x"}'],
    ['error', '\uFEFF {"error":"x"}'],
    ['errors.message', '{"errors":{"message":"x"}}'],
    ['html', '<html><body>x'],
    ['html', '\n<!doctype HTML>'],
    ['empty', ' \n'],
    ['other', '{"error":1}'],
    ['other', '{"errors":"x"}'],
    ['other', '["error"]'],
    ['other', 'null'],
    ['other', 'no JSON'],
    ['other', '<error>xml</error>'],
    ['other', '{"__proto__":{"error":"x"}}'],
  ])('is %s for %j', (shape, body) => {
    expect(shapeOf(body)).toBe(shape);
  });

  it('is what the body says when the type says otherwise', () => {
    expect(shapeOf('{"error":"x"}', 'text/html')).toBe('error');
    expect(shapeOf('Forbidden', 'TEXT/HTML; charset=x')).toBe('html');
  });

  it('is other for a body that still streams', () => {
    expect(shapeOf(Readable.from(['{"error":"x"}']))).toBe('other');
  });
});
