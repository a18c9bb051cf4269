import type { Program } from '../program.ts';

/** The ports of the server and of its upstream, and the folder for the server's files. */
export interface PeerContext {
  readonly folder: string;
  readonly port: number;
  readonly upstreamPort: number;
}

/** A measured server. */
export interface Peer {
  /** The name shown in results. */
  readonly label: string;
  /** The program, if any, that it needs in addition to Node. Such a program compiles nothing while it runs. */
  readonly needs?: 'nginx';
  /** Writes the server's files and returns its program. Portico also has an admin port. */
  prepare(context: PeerContext): Promise<Program & { readonly adminPort?: number }>;
}
