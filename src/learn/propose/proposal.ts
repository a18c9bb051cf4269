import { confidenceOf } from '../confidence.ts';
import type { Shape } from '../shape/shape.ts';
import type { OverlayAction } from './overlay-action.ts';

/** The evidence for a statement. It consists only of counts and times. */
interface Evidence {
  /** The number of values, objects or responses that support this statement. */
  readonly seen: number;
  /** The number of distinct responses that contained those values or objects. */
  readonly answers: number;
  /** The total number of values, objects or responses. Set only if some of them may contradict the statement. */
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

/** The limits for proposals. */
export interface Limits {
  /** The minimum number of distinct responses that must contain a word or a field name before it is shown. */
  readonly minResponses: number;
  /** The minimum confidence, from 0 to 1. */
  readonly minConfidence: number;
  /**
   * True if every undocumented path whose bodies are known is added to the contract. If false, only ticket lookups
   * are added.
   */
  readonly writeAddresses: boolean;
}

/**
 * Returns the confidence and the evidence that the values of a shape provide. `of` is the number of objects that could
 * have had such a value, if it is known.
 */
export function supportOf(shape: Shape, of?: number): Pick<Proposal, 'confidence' | 'evidence'> {
  const { seen, answers, firstSeenAt, lastSeenAt } = shape;
  return {
    confidence: confidenceOf(seen, answers),
    // Responses whose fields the caller selected contain values, but their objects are not counted.
    evidence: { seen, answers, ...(of !== undefined && { of: Math.max(of, seen) }), firstSeenAt, lastSeenAt },
  };
}
