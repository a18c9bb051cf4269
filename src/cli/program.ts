import type { Product } from '../engine/config/product.ts';
import type { Settings } from '../engine/config/settings.ts';
import type { Feature } from '../engine/feature.ts';
import type { Fault } from '../engine/model/fault.ts';
import type { Command, CommandEntry, CommandIo, Flag } from '../lib/command.ts';

/** What a program serves: the API that it knows, and its features. */
export interface ProgramProduct extends Product {
  readonly features: readonly Feature[];
  /** The server that `serve` runs while no upstream is configured. If undefined, `serve` needs an upstream. */
  readonly standIn?: StandIn;
}

/** A server that stands in for the upstream. */
export interface StandIn {
  /** What help texts call it, with an article. */
  readonly name: string;
  /** The flags of `serve` that configure it. */
  readonly flags: readonly ConfigFlag[];
  /** The lines about it at the end of the help of `serve`. */
  readonly notes: readonly string[];
  /** The names of its accounts, which are also their passwords. */
  readonly accounts: readonly string[];
  /** The command that runs it without the gateway. */
  readonly command: CommandEntry<ProgramIo>;
  /** Returns the errors in its configuration that no schema finds. */
  faults(settings: Settings): readonly Fault[];
  /** Describes it for the banner. */
  describe(settings: Settings): string;
  /** Starts it. Paths are relative to `cwd`. Throws a `StartFault` if its configuration is wrong. */
  start(settings: Settings, cwd: string): Promise<{ readonly url: string; close(): Promise<void> }>;
}

/** A flag that sets a configuration key. */
export interface ConfigFlag extends Flag {
  /** The key, as a JSON pointer. */
  readonly pointer: string;
  /** True if the value is a number. */
  readonly isNumber?: true;
}

/** The parts of the process that a command can use, and what the program serves. */
export interface ProgramIo extends CommandIo {
  readonly product: ProgramProduct;
}

/** A command of the program. */
export type ProgramCommand = Command<ProgramIo>;

/** A program: what it serves, and its commands, in the order shown in the help text. */
export interface Program {
  readonly product: ProgramProduct;
  readonly commands: readonly CommandEntry<ProgramIo>[];
}

/**
 * Returns help text in which `{operation}` and `{target}` are replaced by an operation of the API and a request for it.
 */
export function withExamples(text: string, { profile: { basePath, examples } }: Product): string {
  return text.replaceAll('{operation}', examples.operation).replaceAll('{target}', basePath + examples.accepted);
}
