import type { AuditedState, AuditRuleFacts, Settings } from '../../engine/config/settings.ts';
import type { Operation } from '../../engine/model/operation.ts';
import type { RolesFile } from '../../engine/permissions/roles-file.ts';

/** The input for the audit rules. It contains no configuration errors, so the gateway could start with it. */
export interface AuditSubject {
  readonly settings: Settings;
  readonly operations: readonly Operation[];
  /** The roles file as written, including its demo accounts. */
  readonly roles: RolesFile;
  /** Returns what the rules of a feature may look at besides the configuration. */
  readonly stateOf: (feature: string) => AuditedState;
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
