import type { Settings } from '../config/settings.ts';

/** Operations that a switch of the configuration takes away, with the key that does: operation 3 without an issue tracker (rules, 3). */
export function switchedOff({ issueTracker }: Settings): ReadonlyMap<string, string> {
  return new Map(issueTracker.enabled ? [] : [['copyAttachments', 'issueTracker.enabled']]);
}
