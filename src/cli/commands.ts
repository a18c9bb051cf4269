import { checkCommand } from './check-command.ts';
import type { Command } from './command.ts';
import { explainCommand } from './explain-command.ts';
import { hashPasswordCommand } from './hash-password-command.ts';
import { learnCommand } from './learn-command.ts';
import { ladderCommand } from './ladder-command.ts';
import { permissionsCommand } from './permissions-command.ts';
import { planCommand } from './plan-command.ts';
import { referenceCommand } from './reference-command.ts';
import { reportCommand } from './report-command.ts';
import { serveCommand } from './serve-command.ts';

/** Every command, in the order of help. */
export const COMMANDS: readonly Command[] = [
  serveCommand,
  checkCommand,
  reportCommand,
  planCommand,
  permissionsCommand,
  explainCommand,
  learnCommand,
  ladderCommand,
  referenceCommand,
  hashPasswordCommand,
];
