import { html } from './html.js';

const inserted = (parts) => parts.map((part) => html`<wbr />${part}`);

/** Returns a path that a narrow window or column can wrap at its slashes. */
export const wrappedPath = (path) => inserted(path.split(/(?=\/)/));

/** Returns JSON that a narrow window or column can wrap after its commas and colons. */
export const wrappedJson = (text) => inserted(text.split(/(?<=[,:])/));
