import { describe, expect, it } from 'vitest';
import { createSeal } from '../../src/lib/seal.ts';

const OLD = 'o'.repeat(32);
const NEW = 'n'.repeat(32);
const value = Buffer.from('a page');

describe('a seal', () => {
  it('opens what it has sealed, for the same purpose only', () => {
    const seal = createSeal([NEW]);
    const sealed = seal.seal('page one', value);
    expect(sealed.equals(value)).toBe(false);
    expect(seal.open('page one', sealed)).toEqual(value);
    expect(seal.open('page two', sealed)).toBeUndefined();
  });

  it('opens an empty value', () => {
    const seal = createSeal([NEW]);
    expect(seal.open('page', seal.seal('page', Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  // The attack: who can write to the shared place moves the boundary between what a value is for and the value.
  it('does not open a value that has exchanged characters with its purpose', () => {
    const seal = createSeal([NEW]);
    const sealed = seal.seal('page', value);
    const tag = sealed.subarray(0, sealed.length - value.length);
    expect(seal.open('pagea', Buffer.concat([tag, value.subarray(1)]))).toBeUndefined();
    expect(seal.open('pag', Buffer.concat([tag, Buffer.from('e'), value]))).toBeUndefined();
  });

  it('does not open a value of which a byte has changed or the end is missing', () => {
    const seal = createSeal([NEW]);
    const sealed = seal.seal('page', value);
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(seal.open('page', changed), `byte ${at}`).toBeUndefined();
      expect(seal.open('page', sealed.subarray(0, at)), `${at} bytes`).toBeUndefined();
    }
  });

  it('opens what an earlier key of the fleet has sealed, and seals with the current one', () => {
    const rotating = createSeal([NEW, OLD]);
    expect(rotating.open('page', createSeal([OLD]).seal('page', value))).toEqual(value);
    expect(createSeal([NEW]).open('page', rotating.seal('page', value))).toEqual(value);
    expect(createSeal([OLD]).open('page', rotating.seal('page', value))).toBeUndefined();
  });

  it('leaves values as they are without a key', () => {
    const none = createSeal([]);
    expect(none.seal('page', value)).toEqual(value);
    expect(none.open('another page', value)).toEqual(value);
  });
});
