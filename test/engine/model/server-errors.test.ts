import { describe, expect, it } from 'vitest';
import {
  isServerError,
  serverErrorBody,
  type ServerErrors,
  serverMessages,
  wordsOfForm,
} from '../../../src/engine/model/server-errors.ts';

const FORMS: ServerErrors = [
  { name: 'fault', at: ['fault'] },
  { name: 'faults', at: ['faults', 'first', 'text'], endOfDenials: ' Sign in.' },
];
const [first, second] = FORMS as [ServerErrors[0], ServerErrors[0]];

describe('the forms of errors of an API', () => {
  it.each([
    [{ fault: 'x' }, true],
    [{ list: [], faults: null }, true],
    [{ list: [] }, false],
    [['fault'], false],
    ['fault', false],
    [null, false],
    [Object.create({ fault: 'inherited' }), false],
  ])('%o is an error: %s', (json, expected) => {
    expect(isServerError(FORMS, json)).toBe(expected);
  });

  it.each([
    [{ fault: 'x' }, ['x']],
    [{ faults: { first: { text: 'y' } } }, ['y']],
    [{ faults: { first: { text: 'y' } }, fault: 'x' }, ['x', 'y']],
    [{ faults: { first: 'y' }, fault: { text: 'x' } }, []],
    [{ faults: [{ text: 'y' }] }, []],
    [undefined, []],
  ])('%o has the messages %o', (json, expected) => {
    expect(serverMessages(FORMS, json).map(({ message }) => message)).toEqual(expected);
  });

  it('write a message, and the end of a denial if the form has one', () => {
    expect(serverErrorBody(first, 'No.', true)).toEqual({ fault: 'No.' });
    expect(serverErrorBody(second, 'No.', true)).toEqual({ faults: { first: { text: 'No. Sign in.' } } });
    expect(serverErrorBody(second, 'None.', false)).toEqual({ faults: { first: { text: 'None.' } } });
  });

  it('are shown by an example', () => {
    expect(FORMS.map(wordsOfForm)).toEqual(['{fault}', '{faults: {first: {text}}}']);
  });
});
