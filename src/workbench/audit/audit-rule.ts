import type { AuditRuleFacts, Settings } from '../../engine/config/settings.ts';
import type { LadderStep } from '../../features/levels/ladder/ladder-step.ts';
import type { Operation } from '../../engine/model/operation.ts';
import type { Override } from '../../features/levels/overrides/override.ts';
import type { RolesFile } from '../../engine/permissions/roles-file.ts';

/** The input for the audit rules. It contains no configuration errors, so the gateway could start with it. */
export interface AuditSubject {
  readonly settings: Settings;
  readonly operations: readonly Operation[];
  /** The roles file as written, including its demo accounts. */
  readonly roles: RolesFile;
  /** The ladder steps in effect. */
  readonly ladder: readonly LadderStep[];
  /** The overrides in effect. */
  readonly overrides: readonly Override[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The absolute path of the configuration file. Undefined if there is no configuration file. */
  readonly configFile: string | undefined;
  /** Returns the permission bits of a file, or undefined if they are unknown. */
  readonly modeOf: (file: string) => number | undefined;
}

/** One rule of the audit. */
export interface AuditRule extends AuditRuleFacts {
  /** Returns one description for each violation of the rule, or an empty list if there are none. */
  readonly find: (subject: AuditSubject) => readonly string[];
}

/** Returns the message as a rule's result if the condition is true, or an empty result if it is not. */
export function foundIf(condition: boolean, text: string): readonly string[] {
  return condition ? [text] : [];
}

const MAX_LISTED = 5;

/** Joins names into one string. Long lists are shortened, because a few examples are enough. */
export function listed(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const more = names.length - MAX_LISTED;
  return [`${names.slice(0, MAX_LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`];
}
