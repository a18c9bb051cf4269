import type { Readable } from 'node:stream';
import type { ParameterValues } from '../contract/parameter-values.ts';
import type { Cancellation } from '../lib/ending.ts';
import type { Arrival } from '../model/arrival.ts';
import type { Principal } from '../model/principal.ts';
import type { Trace } from '../model/trace.ts';
import type { RequestedPage } from '../paging/requested-page.ts';
import type { Grants } from '../permissions/decide.ts';

/** A request whose caller is known. */
export interface KnownRequest {
  readonly arrival: Arrival;
  readonly principal: Principal;
  /** Returns what ends with the client's connection, made when first called; undefined for work that several callers share. */
  readonly clientGone?: (() => Cancellation) | undefined;
  readonly trace: Trace;
}

/** A request that a plan can answer: decoded once by `admit`, so that no later stage reads the arrival's text again. */
export interface Exchange extends KnownRequest {
  readonly grants: Grants;
  /** Tells whose stored answers this caller may be given. */
  readonly audience: string;
  /** The decoded parameters. Asked for, because an answer from memory needs none: those of a target seen before are decoded again only then. */
  readonly values: () => ParameterValues;
  /** The page that is asked for; for operations without pages it says nothing. */
  readonly asked: RequestedPage;
  /** The exact target that will be sent upstream, under its base path. */
  readonly target: string;
  /** The request body, once a stage has read it. */
  readonly body?: Buffer | Readable;
  /** True when only the upstream can decide, so that the caller's own credential must travel. */
  readonly delegated: boolean;
}

/** A request for an undocumented path that the policy lets pass. */
export interface PassedExchange extends KnownRequest {
  /** The permission that its entry in `undocumented.allow` asks for. */
  readonly permission: string | undefined;
}
