import { Fragment, h, render } from '../vendor/preact.js';
import { useCallback, useEffect, useId, useLayoutEffect, useRef, useState } from '../vendor/hooks.js';
import htm from '../vendor/htm.js';

/** The template tag for markup. Preact escapes all inserted values. */
export const html = htm.bind(h);

export { Fragment, render, useCallback, useEffect, useId, useLayoutEffect, useRef, useState };
