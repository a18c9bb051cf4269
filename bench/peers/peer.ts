import type { Running } from '../process-tree.ts';

/** The ports of the upstream and of the measured server, and the folder for the server's files. */
export interface PeerContext {
  readonly upstreamPort: number;
  readonly port: number;
  readonly folder: string;
}

/** A measured server. */
export interface Peer {
  /** An id that is unique within a scenario. It is used in file names and results. */
  readonly id: string;
  /** The name shown in tables. */
  readonly label: string;
  /** True if the server authenticates callers. */
  readonly authenticates: boolean;
  /** The program, if any, that the peer needs in addition to Node. */
  readonly needs?: 'nginx' | 'varnishd' | 'haproxy';
  start(context: PeerContext): Promise<StartedPeer>;
  /** Returns the same peer, started with options for Node. Undefined if the peer cannot be profiled. */
  withNodeOptions?(options: readonly string[]): Peer;
}

/** A running peer. */
export interface StartedPeer {
  readonly running: Running;
  readonly port: number;
  /** The exact configuration, as shown in the appendix to the results. */
  readonly configuration: string;
  /** The port of the admin listener, if there is one. */
  readonly adminPort?: number;
  /** Returns the number of functions that V8 has optimized so far. Undefined for servers that do not run on Node. */
  readonly optimizations?: () => number;
}

/** Returns a peer's id, with a note that distinguishes it from similar peers. */
export function idOf(name: string, note: string | undefined): string {
  return note === undefined ? name : `${name}-${note.replaceAll(/\W+/g, '-')}`;
}
