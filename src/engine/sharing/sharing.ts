import type { LogPosition, SharedChange } from '../model/change-log.ts';
import type { Seal } from '../../lib/seal.ts';
import type { Redis } from './redis/connect-redis.ts';

/**
 * A result that is there at once or later. A gateway alone never makes a caller wait, so its results are there at once.
 */
export type Soon<T> = T | Promise<T>;

/**
 * What the gateways in front of the same upstream share. There are two adapters: `alone/`, in which a process shares
 * only with itself, and `redis/`. Whoever uses this port need not know which one is at work.
 *
 * The names given to these functions are part of the keys in Redis. Gateways of different releases run side by side, so
 * a name and what is stored under it must keep their meaning.
 */
export interface Sharing {
  readonly changes: ChangeLog;
  /** Values that expire. */
  map(name: 'page' | 'count'): SharedMap;
  /** Claims on work that only one gateway should do. */
  claims(name: 'page' | 'upload' | 'work'): Claims;
  /** Protects what a feature itself stores through `redis` against everyone who is not a gateway of the fleet. */
  readonly seal: Seal;
  /** Counts of events. `max` limits the number of keys that are counted in this process. */
  counters(name: string, max: number): Counters;
  /** Limits on events in sliding windows. `max` limits the number of events that are counted in this process. */
  windows(name: 'logins', max: number): SlidingWindows;
  /** A hash that only the gateways can compute. */
  keyedHash(name: 'callers'): SharedHash;
  /** A set of names that only grows. */
  set(name: 'demoted'): SharedSet;
  /** A small document. It is read again whenever a gateway changes it. */
  openDocument<T>(name: string, parts: DocumentParts<T>): SharedDocument<T>;
  /** The latest lines that the gateways have added: at most `max`, of which `shown` are read. */
  lines(name: string, max: number, shown: number): SharedLines;
  readonly instances: Instances;
  /**
   * Returns whether the others can be reached, and for how long their changes may have been missed. Undefined if no
   * others are configured.
   */
  status(): { readonly available: boolean; readonly unsyncedSeconds: number } | undefined;
  /**
   * The connection to Redis, for features whose data needs structures of its own there, such as the ledger. Undefined if
   * no others are configured.
   */
  readonly redis: Redis | undefined;
  close(): Promise<void>;
}

/** Receives changes in the order of the log. */
export interface ChangeListener {
  /**
   * Applies a change. `own` is true if this process appended the change and has therefore already applied it. This
   * function also receives changes that were appended before the process started.
   */
  apply(change: SharedChange, number: number, own: boolean): void;
  /** Called when changes may have been lost. From then on, data stored earlier must not be served. */
  reset(position: LogPosition): void;
}

/**
 * The ordered log of changes. If there are other gateways, each applies all changes in the same order, its own included,
 * because what another gateway did may have come in between. A gateway alone has nothing to apply.
 */
export interface ChangeLog {
  /**
   * Appends a change, which the caller must already have applied. Returns undefined if there is nobody to wait for;
   * otherwise, resolves when others can read the change or, if the log is unavailable, when the change has been queued.
   * Never rejects.
   */
  append(change: SharedChange): Promise<void> | undefined;
  /** Adds a listener. Listeners are called in the order in which they were added. */
  listen(listener: ChangeListener): void;
  /** The position of the latest change that this process has applied. Undefined until the log is first read. */
  position(): LogPosition | undefined;
  /** The time, in epoch milliseconds, up to which this process is known to have applied all changes. */
  syncedAt(): number;
  /** Returns the changes that have been passed to `append` but not yet applied as entries in the log. */
  unapplied(): Iterable<SharedChange>;
  /** False if no change can ever be missed, so that nobody has to check for it. */
  readonly canMiss: boolean;
}

/** Values that expire. A value can also disappear earlier. All functions reject if the others cannot be reached. */
export interface SharedMap {
  /**
   * Returns whether others can currently read what this process stores. If not, the map contains nothing that the
   * process has not stored itself, so asking it is a waste of time.
   */
  isShared(): boolean;
  /** Returns a value, or `forged` if it was not stored under this key by a gateway that has the key of the fleet. */
  get(key: string): Soon<Buffer | 'forged' | undefined>;
  /** Stores a value for `ms` milliseconds. */
  set(key: string, value: Buffer, ms: number): Soon<void>;
  drop(key: string): Soon<void>;
}

/** Why a key cannot be claimed: somebody is working on it, or has finished the work. */
export type Unclaimable = 'taken' | 'settled';

/**
 * Claims on work that only one gateway should do. While the others cannot be reached, only this process's own claims
 * count. Nothing rejects.
 */
export interface Claims {
  /**
   * Claims a key for `ms` milliseconds. Returns why, if it cannot be claimed. With `force`, it always can: the claim is
   * then held together with others.
   */
  take(key: string, ms: number, force?: boolean): Soon<Claim | Unclaimable>;
  /** Returns why `take` would fail, or undefined if it would not. Changes nothing. */
  look(key: string): Soon<Unclaimable | undefined>;
  /** Keeps everybody from claiming a key for `ms` milliseconds, because the work is done. Called by a holder. */
  settle(key: string, ms: number): Soon<void>;
  /** Begins to listen for the end of claims on a key. Some ends are not heard. */
  listen(key: string): ClaimListener;
}

/** A claim on a key. */
export interface Claim {
  /**
   * Extends the claim to `ms` milliseconds from now, if it still exists. Returns whether it does; false also if the others
   * cannot be reached, because another gateway may then hold the key.
   */
  renew(ms: number): Soon<boolean>;
  /** Frees the key, if this claim still holds it, and tells those who listen whether the work succeeded. */
  release(succeeded: boolean): Soon<void>;
}

/** Waits for the end of claims on a key. */
export interface ClaimListener {
  /** Resolves to whether the work succeeded, or to undefined if no claim ends within `ms` milliseconds. */
  outcome(ms: number): Promise<boolean | undefined>;
  stop(): void;
}

/** The events counted in a window, the latest included, and the time until the window ends. */
export interface Counted {
  readonly count: number;
  readonly leftMs: number;
}

/**
 * Counts events in windows that begin with their first event. While the others cannot be reached, each process counts by
 * itself. If too many keys are counted in a process, the least recently used one starts over. Nothing rejects.
 */
export interface Counters {
  /** Counts an event. */
  add(key: string, windowMs: number): Soon<Counted>;
  /** Returns what `add` would return if it did not count the event. */
  read(key: string, windowMs: number): Soon<Counted>;
}

/**
 * A limit on the events in a sliding window. `texts` say whose events are counted; outside the process, they are hashed
 * with a key.
 */
export interface EventWindow {
  readonly name: string;
  readonly texts: readonly string[];
  /** The maximum number of events or, with `counts`, of windows with events. */
  readonly limit: number;
  /** The name of the event's window that is counted in place of the event, for as long as it has events. */
  readonly counts?: string;
  /** The name of the event's window that lifts this limit while it is trusted, see {@link WindowEvent.trust}. */
  readonly unlessTrusted?: string;
}

/**
 * Limits on events in sliding windows. While the others cannot be reached, only the events of this process count. Nothing
 * rejects.
 */
export interface SlidingWindows {
  /**
   * Counts an event in all of the windows or, if one of them is full, in none. Events that are added at the same time
   * cannot exceed a limit together.
   */
  add(windows: readonly EventWindow[], windowMs: number): Soon<WindowEvent>;
}

/** An event that was counted or, because a window was full, was not. */
export interface WindowEvent {
  /** How long until the event would be counted, in milliseconds; 0 if it was counted. */
  readonly waitMs: number;
  /** Removes the event, as if it had not happened. */
  withdraw(): void;
  /** Removes the event, and trusts its window of this name for `ms` milliseconds. */
  trust(window: string, ms: number): void;
}

/** A hash that only the gateways can compute. */
export interface SharedHash {
  /** An identifier of the key that does not reveal it. Undefined until the key is known. */
  id(): string | undefined;
  /** Makes the key known, if possible, and up to date. Never rejects. */
  read(): Soon<void>;
  /** Hashes the strings. The key must be known. */
  hash(...texts: readonly string[]): string;
}

/** A set of names that only grows. All functions reject if the others cannot be reached. */
export interface SharedSet {
  members(): Soon<readonly string[]>;
  add(member: string): Soon<void>;
}

/** A list of the latest lines from all gateways. Identical lines are stored only once. */
export interface SharedLines {
  /** Adds a line of the given time, in epoch milliseconds. The latest lines are queued while nobody can be reached. */
  add(line: string, at: number): void;
  /** Returns the latest lines, oldest first. Returns undefined if the others cannot be reached. */
  read(): Promise<readonly string[] | undefined>;
}

/**
 * A document that all gateways share. Each applies its changes to a copy in memory immediately, and merges them into the
 * document as soon as the others can be reached. Nothing happens before `start` is called. To a gateway alone, its copy
 * is the document.
 */
export interface SharedDocument<T> {
  /** Merges the copy and the document, and then merges them again at regular intervals. */
  start(): Promise<void>;
  /**
   * Merges the copy and the document after a change to either of them. Resolves to false if there are no others, or they
   * cannot be reached.
   */
  sync(): Promise<boolean>;
  /**
   * Returns the right to replace the document. Returns undefined if another gateway holds this right, or if the others
   * cannot be reached.
   */
  takeTurn(): Promise<Turn<T> | undefined>;
}

/** A gateway's right to replace the document. It ends with time. */
export interface Turn<T> {
  /**
   * Replaces the document. Returns false and changes nothing if the turn has ended or the document has changed since
   * the turn began. A gateway that was paused during its turn therefore cannot overwrite newer decisions.
   */
  commit(next: T): Promise<boolean>;
}

/** What a document consists of, and how its copies are merged. */
export interface DocumentParts<T> {
  /** Returns the copy in memory. */
  readonly current: () => T;
  /** Replaces the copy in memory. */
  readonly adopt: (next: T) => void;
  /** Merges this gateway's changes since `base` into a newer version of the document. */
  readonly merge: (base: T, mine: T, theirs: T) => T;
  /** Returns the version of the document to which a copy belongs. Copies of different versions are never merged. */
  readonly versionOf?: (value: T) => string;
  /** Returns the merge base for a copy of a version that this gateway has never merged before. */
  readonly empty: (value: T) => T;
  readonly format: (value: T) => string;
  /** Parses the text of a document. Throws an error if the text is invalid. */
  readonly parse: (text: string) => T;
  /** Called after each merge of the copy and the document. */
  readonly onMerged?: () => void;
  /** How long a turn lasts, in milliseconds. */
  readonly turnMs?: number;
}

/** What a gateway reports about itself. `startedAt` is in epoch milliseconds. */
export interface InstanceFacts {
  readonly name: string;
  readonly version: string;
  readonly release: string;
  readonly mode: string;
  /** The contract version, and digests of the configuration and of the accepted violations. */
  readonly contract: string;
  readonly configuration: string;
  readonly baseline: string;
  readonly startedAt: number;
  readonly ready: boolean;
}

/** A gateway in the fleet. `silentSeconds` is the time since the gateway's last report. */
export type Instance = InstanceFacts & { readonly silentSeconds: number };

/** The gateways that share with each other. */
export interface Instances {
  /** Starts reporting these facts about this gateway at regular intervals. */
  start(facts: () => InstanceFacts): void;
  /**
   * Returns the gateways, sorted by name. The list is empty if no others are configured, until they are reached for the
   * first time, and while they have not been reached for a long time.
   */
  list(): readonly Instance[];
}
