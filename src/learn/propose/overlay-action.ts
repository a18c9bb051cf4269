import { splitPath } from '../document-path.ts';

/** An action of an OpenAPI Overlay 1.0 document. */
export interface OverlayAction {
  readonly target: string;
  readonly description: string;
  readonly update?: unknown;
  readonly remove?: true;
}

/**
 * Returns actions that replace a node of the contract. The node is removed first, because an overlay can neither remove
 * a keyword whose value is a string or a number, nor update a reference or a list of types. The list is empty for an
 * element of a list, because an overlay can only append to lists. `place` is the readable form of the path.
 */
export function replaceNode(path: string, node: unknown, place: string, change: string): OverlayAction[] {
  const { parent, name } = splitPath(path);
  if (name === '') return [];
  return [
    { target: path, description: `${place}: removed, because the next action replaces it`, remove: true },
    { target: parent, description: `${place}: ${change}`, update: { [name]: node } },
  ];
}
