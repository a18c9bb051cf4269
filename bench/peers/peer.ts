import type { Running } from '../process-tree.ts';

/** The environment of a peer: its upstream, a port and a folder for its files. */
export interface PeerContext {
  readonly upstreamPort: number;
  readonly port: number;
  readonly folder: string;
}

/** A server that is measured. */
export interface Peer {
  /** Unique within a scenario. Used in file names and results. */
  readonly id: string;
  /** The name in tables. */
  readonly label: string;
  /** Whether it authenticates callers. */
  readonly authenticates: boolean;
  /** The program that it needs in addition to Node, if any. */
  readonly needs?: 'nginx' | 'varnishd' | 'haproxy';
  start(context: PeerContext): Promise<StartedPeer>;
  /** Returns the same peer with options for Node, if it can be profiled. */
  withNodeOptions?(options: readonly string[]): Peer;
}

/** A running peer. */
export interface StartedPeer {
  readonly running: Running;
  readonly port: number;
  /** The exact configuration, for the appendix of the results. */
  readonly configuration: string;
  /** The port of the admin side, if there is one. */
  readonly adminPort?: number;
  /** Returns how many functions V8 has optimized so far, for peers that run on Node. */
  readonly optimizations?: () => number;
}

/** Returns the id of a peer, with a note that distinguishes it from similar ones. */
export function idOf(name: string, note: string | undefined): string {
  return note === undefined ? name : `${name}-${note.replaceAll(/\W+/g, '-')}`;
}
