import type { Operation } from '../model/operation.ts';

/**
 * What programs must know of an API to explore a server of it with safe requests: the walk, and the walk that learns.
 * The running gateway does not use it.
 */
export interface Exploration {
  /** Finds the ids in the text of a response. */
  discoverIds(text: string): readonly FoundId[];
  /**
   * Returns additional queries for an operation, derived from its parameters and from the response to its plain request.
   */
  variationsOf(operation: Operation, json: unknown): readonly Variation[];
  /** The path of a resource that does not exist on any server. */
  readonly missingPath: string;
  /**
   * The requests that a learning walk sends after the walk through the contract, in steps. Each step gets the bodies of
   * the previous step's successful responses.
   */
  readonly learningSteps: readonly LearningStep[];
  /** The lists whose page sizes a learning walk may probe. No id is needed to request them. */
  readonly probedLists: readonly { readonly operation: string; readonly path: string }[];
}

/** Returns the requests of one step. */
export type LearningStep = (ids: IdsOf, bodies: readonly unknown[]) => readonly LearningRequest[];

/** Returns the known ids for a path parameter. */
export type IdsOf = (parameter: string) => readonly string[];

/** An id found in a response. */
export interface FoundId {
  /** The path parameter that accepts the id. */
  readonly parameter: string;
  /** The digits of the id. A number could not represent all 64-bit ids. */
  readonly id: string;
  /** Whether requests should contain this id rather than others. */
  readonly isPreferred: boolean;
}

/**
 * The ranks of a walk's requests. Requests with lower ranks are sent first. `plain` requests are the first for each
 * operation. `more` requests are sent only if the walk does not reach its maximum first.
 */
export const RANK = { plain: 0, pages: 1, shapes: 2, filters: 3, more: 4 } as const;

/** An additional query for a resource that has already been requested. */
export interface Variation {
  readonly query: string;
  /** One of the values of {@link RANK}. */
  readonly rank: number;
}

/** A request that collects information not provided by the walk through the contract. */
export interface LearningRequest {
  /** The id of the requested operation. Undefined for an undocumented path. */
  readonly operation: string | undefined;
  /** The path and query. */
  readonly target: string;
  readonly details?: boolean;
  readonly page?: number;
  readonly pageSize?: number;
  /** The target to request instead if the server refuses the page size. */
  readonly fallback?: string;
}
