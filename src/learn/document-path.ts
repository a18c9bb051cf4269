import type { DocumentNode } from './document.ts';

/** Appends a name to a JSONPath. A plain name is appended with a dot, and any other name is put in brackets. */
export function childPath(path: string, name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `${path}.${name}` : `${path}['${name.replaceAll(/['\\]/g, '\\$&')}']`;
}

/** Returns the node at a path created by {@link childPath}, or undefined if there is no such node. */
export function nodeAt(document: DocumentNode, path: string): unknown {
  const steps = [...path.matchAll(/\.([A-Za-z_]\w*)|\['((?:\\.|[^'\\])*)'\]|\[(\d+)\]/g)];
  let node: unknown = document;
  for (const [, name, quoted, index] of steps) {
    const key = name ?? quoted?.replaceAll(/\\(.)/g, '$1') ?? index ?? '';
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined;
    node = (node as Readonly<Record<string, unknown>>)[key];
  }
  return node;
}

/** Splits a path into its parent's path and its last name. */
export function splitPath(path: string): { readonly parent: string; readonly name: string } {
  const [last = '', plain, quoted] = /(?:\.([A-Za-z_]\w*)|\['((?:\\.|[^'\\])*)'\])$/.exec(path) ?? [];
  return { parent: path.slice(0, path.length - last.length), name: plain ?? quoted?.replaceAll(/\\(.)/g, '$1') ?? '' };
}

/** Returns a path in readable form, for example `Node.attachments[]`. */
export function placeName(path: string): string {
  const [, name] = /^\$\.components\.(?:schemas|responses|parameters)(?:\.|\[')(.*)$/.exec(path) ?? [];
  return (name ?? path)
    .replaceAll(/\.allOf\[\d+\]|\.anyOf\[\d+\]|\.properties(?=[.[])|\.content\['application\/json'\]\.schema/g, '')
    .replaceAll('.items', '[]');
}
