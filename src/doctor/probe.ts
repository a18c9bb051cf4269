import type { HeaderPairs } from '../model/header-pairs.ts';
import type { Operation } from '../model/operation.ts';
import type { Severity } from '../model/severity.ts';
import { failureHint } from '../upstream/transport-failure.ts';
import type { ProbeClient, ProbeFailure, ProbeRequest, ProbeResponse } from './probe-client.ts';

/** Something about the server that an operator should know or change. */
export interface DoctorFinding {
  readonly severity: Severity;
  /** A description of the measurement. */
  readonly text: string;
  /** The consequences for Portico, and the recommended action. */
  readonly advice: string;
}

/** A recommended value for a configuration key. */
export interface Recommendation {
  /** The dotted key, such as `upstream.idleTimeoutMs`. */
  readonly key: string;
  readonly value: unknown;
  readonly reason: string;
}

/** The result of a probe. */
export interface ProbeResult {
  /** The measurements, as sentences. */
  readonly facts: readonly string[];
  readonly findings?: readonly DoctorFinding[];
  readonly recommendations?: readonly Recommendation[];
}

/**
 * A list that the operator's credential may read, with its response. Probes request the list again in different ways.
 */
export interface ReadableList {
  readonly operation: Operation;
  readonly response: ProbeResponse;
}

/** The resources that a probe can use. */
export interface ProbeContext {
  /** Sends requests to the server, with the base path that was found. */
  readonly client: ProbeClient;
  /** The safe operations without path parameters. */
  readonly operations: readonly Operation[];
  /** Undefined if no list could be read. */
  readonly list: ReadableList | undefined;
  /** The first response of every operation that was requested. */
  readonly responses: readonly ProbeResponse[];
  /** The maximum time for which an idle connection is watched, in milliseconds. */
  readonly idleMs: number;
  /** The maximum number of concurrent requests. */
  readonly maxConcurrency: number;
  readonly signal: AbortSignal;
}

/** A probe examines the server to answer one question. */
export interface Probe {
  readonly name: string;
  /** A description of the probe, for the plan that is shown before it starts. */
  readonly does: string;
  /** The maximum number of requests, given the maximum concurrency. */
  readonly requests: (maxConcurrency: number) => number;
  /** Throws `CannotProbe` if the question cannot be answered. */
  readonly run: (context: ProbeContext) => Promise<ProbeResult>;
}

/** Ends a probe whose question cannot be answered. The message is the reason. */
export class CannotProbe extends Error {
  override readonly name = 'CannotProbe';
}

/** Sends a request. Throws `CannotProbe` with the usual explanation if there is no response. */
export async function respond(client: ProbeClient, request: ProbeRequest): Promise<ProbeResponse> {
  const result = await client.send(request);
  if (result.kind === 'failure') throw new CannotProbe(failureText(result));
  return result;
}

/** Returns the reason why there was no response. */
export const failureText = ({ facts }: ProbeFailure): string => failureHint(facts);

/** Returns the list that probes request again. Throws `CannotProbe` if none is readable. */
export function readableList({ list, client }: ProbeContext): ReadableList {
  if (list !== undefined) return list;
  throw new CannotProbe(
    `no list could be read${client.hasCredential ? ' with this credential' : '; add a credential with --user'}`,
  );
}

/** Returns all values of a header. Names are compared case-insensitively. */
export function valuesOf(headers: HeaderPairs, name: string): readonly string[] {
  return headers.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}
