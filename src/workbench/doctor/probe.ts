import type { Profile } from '../../engine/contract/api-profile.ts';
import type { Operation } from '../../engine/model/operation.ts';
import type { Severity } from '../../engine/model/severity.ts';
import { CannotProbe, type ProbeClient, type ProbeResponse } from './probe-client.ts';
import type { Recommendation } from './recommend.ts';

/** A list that the operator's credential can read, and its response. Probes request the list again in various ways. */
export interface ReadableList {
  readonly operation: Operation;
  readonly response: ProbeResponse;
}

/** The resources available to a probe. */
export interface ProbeContext {
  /** The profile of the API that the server should have. */
  readonly profile: Profile;
  /** The client that sends requests to the server, using the base path that was found. */
  readonly client: ProbeClient;
  /** The operator's own `Authorization` value. Undefined if no credential was given. */
  readonly authorization: string | undefined;
  /** The safe operations without path parameters. */
  readonly operations: readonly Operation[];
  /** The list that the probes will request again. Undefined if no list could be read. */
  readonly list: ReadableList | undefined;
  /** The first response for each requested operation. */
  readonly responses: readonly ProbeResponse[];
  /** The maximum time to watch an idle connection, in milliseconds. */
  readonly idleMs: number;
  /** The maximum number of concurrent requests. */
  readonly maxConcurrency: number;
  readonly signal: AbortSignal;
}

/** A probe, which examines the server to answer one question. */
export interface Probe {
  readonly name: string;
  /** A description of the probe, shown before the probes start. */
  readonly does: string;
  /** Returns the maximum number of requests at the given maximum concurrency. */
  readonly requests: (maxConcurrency: number) => number;
  /** Throws `CannotProbe` if the question cannot be answered. */
  readonly run: (context: ProbeContext) => Promise<ProbeResult>;
}

/** A fact about the server that an operator should know, or a problem that the operator should fix. */
export interface DoctorFinding {
  readonly severity: Severity;
  /** A description of the measurement. */
  readonly text: string;
  /** The consequences for Portico, and what the operator should do. */
  readonly advice: string;
}

/** The result of a probe. */
export interface ProbeResult {
  /** Sentences that describe the measurements. */
  readonly facts: readonly string[];
  readonly findings?: readonly DoctorFinding[];
  readonly recommendations?: readonly Recommendation[];
}

/** Returns the findings or recommendations that apply. Each item is written as `condition && item`. */
export function applicable<Item extends object>(items: readonly (Item | false)[]): readonly Item[] {
  return items.filter((item) => item !== false);
}

/** Returns the list that the probes will request again. Throws `CannotProbe` if no list is readable. */
export function readableList({ list, client }: ProbeContext): ReadableList {
  if (list !== undefined) return list;
  throw new CannotProbe(
    `no list could be read${client.hasCredential ? ' with this credential' : '; add a credential with --user'}`,
  );
}
