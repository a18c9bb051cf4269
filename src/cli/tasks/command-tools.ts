import type { CommandTools } from '../../engine/feature-command.ts';
import { ADMIN_FLAGS, ADMIN_NOTES } from '../flags/admin-flags.ts';
import { CONFIG_FLAGS, settingsFrom, withAssembly } from '../flags/config-flags.ts';
import { recordsAt } from '../flags/kept-records.ts';
import { adminClient } from './admin-client.ts';

/** What the program gives to the commands of features. */
export const COMMAND_TOOLS: CommandTools = {
  configFlags: CONFIG_FLAGS,
  adminFlags: ADMIN_FLAGS,
  adminNotes: ADMIN_NOTES,
  settings: (line, io) => settingsFrom(line, io),
  inspect: (settings, use) =>
    withAssembly(settings, ({ gateway: { contract }, services: { accepts } }) =>
      use({ contract, isAccepted: accepts }),
    ),
  records: (settings) => recordsAt(settings),
  admin: adminClient,
};
