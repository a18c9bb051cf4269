import type { Running } from '../process-tree.ts';

/** What a peer needs to start: its upstream, a port and a folder for its files. */
export interface PeerContext {
  readonly upstreamPort: number;
  readonly port: number;
  readonly folder: string;
}

/** A server that is measured. */
export interface Peer {
  /** Unique in one scenario; names files and results. */
  readonly id: string;
  /** How tables call it. */
  readonly label: string;
  /** Whether it checks who is asking. */
  readonly authenticates: boolean;
  /** The program that it needs beside Node, if any. */
  readonly needs?: 'nginx' | 'varnishd' | 'haproxy';
  start(context: PeerContext): Promise<StartedPeer>;
  /** The same peer with options for Node, where it can be profiled. */
  withNodeOptions?(options: readonly string[]): Peer;
}

/** A peer that runs. */
export interface StartedPeer {
  readonly running: Running;
  readonly port: number;
  /** The exact configuration, for the appendix of the results. */
  readonly configuration: string;
  /** The port of the admin side, where there is one. */
  readonly adminPort?: number;
}

/** The id of a peer of which there are several, by what is said of it. */
export function idOf(name: string, note: string | undefined): string {
  return note === undefined ? name : `${name}-${note.replaceAll(/\W+/g, '-')}`;
}
