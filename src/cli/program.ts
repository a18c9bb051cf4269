import type { Product } from '../engine/config/product.ts';
import type { Feature } from '../engine/feature.ts';
import type { Command, CommandEntry, CommandIo } from '../lib/command.ts';

/** What a program serves: the API that it knows, and its features. */
export interface ProgramProduct extends Product {
  readonly features: readonly Feature[];
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
