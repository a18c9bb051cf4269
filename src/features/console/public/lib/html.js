import { Fragment, h, render } from '../vendor/preact.js';
import { useCallback, useEffect, useId, useLayoutEffect, useRef, useState } from '../vendor/hooks.js';
import htm from '../vendor/htm.js';

const markup = htm.bind(h);

/**
 * The template tag for markup. Preact escapes all inserted values. A line break next to text is a space, as in HTML.
 * By itself, htm would drop it, so that a formatter that wraps a line would join two words.
 */
export const html = (texts, ...values) => markup(spaced(texts), ...values);

/** The texts of each template, with spaces instead of line breaks. htm compiles each list of texts only once. */
const known = new WeakMap();

function spaced(texts) {
  let result = known.get(texts);
  if (result === undefined) known.set(texts, (result = texts.map(withSpaces)));
  return result;
}

/**
 * Replaces line breaks that are next to text or a value with spaces. All others are dropped: those between two
 * elements, and those at the start and the end of an element, where a browser shows no space either.
 */
function withSpaces(text, index, { length }) {
  const spacedText = text
    .replaceAll(/(?<=[^\s>])\s*\n\s*(?=<[^/]|<?$)/g, ' ')
    .replaceAll(/(?<=<\/[^<>]*>|\/>|^)\s*\n\s*(?=[^\s<])/g, ' ');
  const afterValue = index === 0 ? spacedText : spacedText.replace(/^\s*\n\s*(?=<(?:[^/]|$))/, ' ');
  if (index === length - 1) return afterValue;
  return afterValue.replace(index === 0 ? BEFORE_VALUE : BETWEEN_VALUES, ' ');
}

const BEFORE_VALUE = /(?<=<\/[^<>]*>|\/>)\s*\n\s*$/;
const BETWEEN_VALUES = /(?<=<\/[^<>]*>|\/>|^)\s*\n\s*$/;

export { Fragment, render, useCallback, useEffect, useId, useLayoutEffect, useRef, useState };
