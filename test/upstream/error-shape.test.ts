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

  it('is html behind comments and a declaration', () => {
    for (const html of ['<?XML version="1.0"?>\n<!-- a --> <!---->\n<html>', '<!-- --><!DOCTYPE\n html>'])
      expect(shapeOf(html)).toBe('html');
    for (const other of ['<!-- <html> ', '<?xml <html', '<!---->', 'x<html>']) expect(shapeOf(other)).toBe('other');
  });

  // The attack: an error of comments only. An expression with one repetition inside another took twice as long for each
  // comment, so that thirty of them held the process for a minute, and a hundred for ever.
  it('is found behind any number of comments', () => {
    expect(shapeOf(`${'<!---->'.repeat(30_000)}x`)).toBe('other');
    expect(shapeOf(`${'<!---->'.repeat(30_000)}<html>`)).toBe('html');
  });

  it('is other for JSON that is too deep to be an error', () => {
    expect(shapeOf('['.repeat(200_000))).toBe('other');
  });

  it('is other for a body that still streams', () => {
    expect(shapeOf(Readable.from(['{"error":"x"}']))).toBe('other');
  });
});
