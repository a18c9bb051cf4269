import { expect, it } from 'vitest';
import { toCauseLine } from '../../../src/engine/privacy/cause-line.ts';

it('an error is reduced to name, code and frames, as are its causes up to three levels deep', () => {
  const chain = new Error('a', { cause: new Error('b', { cause: new Error('c', { cause: new Error('d') }) }) });
  const line = toCauseLine(Object.assign(chain, { code: 'E_X' }));
  expect(line).toMatchObject({ name: 'Error', code: 'E_X', cause: { cause: { name: 'Error' } } });
  expect(line.cause?.cause?.cause).toBeUndefined();
  expect(line.at?.length).toBeLessThanOrEqual(8);
});

it('a message with several lines is removed completely', () => {
  const line = toCauseLine(new SyntaxError('Unexpected token in\n{"email":"alice@example.org"}\nat position 3'));
  expect(JSON.stringify(line)).not.toMatch(/alice|position/);
});

it('a message line that looks like a frame is not reported as one', () => {
  const line = toCauseLine(new SyntaxError('Unexpected token "{\n    at alice@example.org (bob:1:1)'));
  expect(line.at?.length).toBeGreaterThan(0);
  expect(JSON.stringify(line)).not.toMatch(/alice|bob/);
});

it('a thrown value that is not an error is reduced to its type', () => {
  expect(toCauseLine('alice@example.org')).toEqual({ name: 'string' });
});
