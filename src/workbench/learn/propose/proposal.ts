import { splitPath } from '../../../learner/document.ts';

/** An action of an OpenAPI Overlay 1.0 document. */
export interface OverlayAction {
  readonly target: string;
  readonly description: string;
  readonly update?: unknown;
  readonly remove?: true;
}

/** The evidence for a statement. It consists only of counts and times. */
interface Evidence {
  /** The number of values, objects or responses that support this statement. */
  readonly seen: number;
  /** The number of distinct responses that contained the values or objects counted in `seen`. */
  readonly answers: number;
  /**
   * The total number of values, objects or responses, including any that contradict the statement. Set only if
   * contradictions are possible.
   */
  readonly of?: number;
  /** When the evidence was first seen, in epoch milliseconds. */
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
}

/** A statement about the legacy server, and the overlay actions that add it to the contract. */
export interface Proposal {
  readonly kind:
    'shape' | 'field' | 'words' | 'type' | 'form' | 'optional' | 'envelope' | 'path' | 'page-size' | 'switch';
  /** The place in readable form, for example `Node.attachments[]`. */
  readonly place: string;
  /** The statement, as one plain sentence. */
  readonly statement: string;
  /** The confidence: the lower bound of the Wilson score interval, from 0 to 1. */
  readonly confidence: number;
  readonly evidence: Evidence;
  /** The overlay actions. The list is empty if the statement does not change the contract. */
  readonly actions: readonly OverlayAction[];
}

/** The limits on what is proposed and shown. */
export interface Limits {
  /**
   * The minimum number of distinct responses that must contain a word or a field name before the word or name is shown.
   */
  readonly minResponses: number;
  /** The minimum confidence, from 0 to 1. */
  readonly minConfidence: number;
  /** True if every undocumented path with sampled bodies is added to the contract, not only ticket lookups. */
  readonly writeAddresses: boolean;
}

/** Converts a path in the contract to readable form, for example `Node.attachments[]`. */
export function placeName(path: string): string {
  const [, name] = /^\$\.components\.(?:schemas|responses|parameters)(?:\.|\[')(.*)$/.exec(path) ?? [];
  return (name ?? path)
    .replaceAll(/\.allOf\[\d+\]|\.anyOf\[\d+\]|\.properties(?=[.[])|\.content\['application\/json'\]\.schema/g, '')
    .replaceAll('.items', '[]');
}

/**
 * Returns actions that replace a node of the contract. The node is removed first, because an overlay can neither remove
 * a keyword whose value is a string or a number, nor update a reference or a list of types. The result is empty if the
 * node is an element of a list, because an overlay can only append to lists. `place` is the readable form of the path.
 */
export function replaceNode(path: string, node: unknown, place: string, change: string): OverlayAction[] {
  const { parent, name } = splitPath(path);
  if (name === '') return [];
  return [
    { target: path, description: `${place}: removed, because the next action replaces it`, remove: true },
    { target: parent, description: `${place}: ${change}`, update: { [name]: node } },
  ];
}
