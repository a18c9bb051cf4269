import { expect, it } from 'vitest';
import { toCauseLine } from '../../src/privacy/cause-line.ts';

it('an error is told by name, code and frames, and so are its causes, three deep', () => {
  const chain = new Error('a', { cause: new Error('b', { cause: new Error('c', { cause: new Error('d') }) }) });
  const line = toCauseLine(Object.assign(chain, { code: 'E_X' }));
  expect(line).toMatchObject({ name: 'Error', code: 'E_X', cause: { cause: { name: 'Error' } } });
  expect(line.cause?.cause?.cause).toBeUndefined();
  expect(line.at?.length).toBeLessThanOrEqual(8);
});

it('a message of several lines leaves none of them behind', () => {
  const line = toCauseLine(new SyntaxError('Unexpected token in\n{"email":"alice@example.org"}\nat position 3'));
  expect(JSON.stringify(line)).not.toMatch(/alice|position/);
});

it('a line of the message that looks like a frame is none', () => {
  const line = toCauseLine(new SyntaxError('Unexpected token "{\n    at alice@example.org (bob:1:1)'));
  expect(line.at?.length).toBeGreaterThan(0);
  expect(JSON.stringify(line)).not.toMatch(/alice|bob/);
});

it('what is thrown without being an error is told by its type only', () => {
  expect(toCauseLine('alice@example.org')).toEqual({ name: 'string' });
});
