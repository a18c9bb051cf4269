import type { CommandTools } from '../../engine/feature-command.ts';
import { ADMIN_FLAGS, ADMIN_NOTES } from '../flags/admin-flags.ts';
import { CONFIG_FLAGS, settingsFrom, withAssembly } from '../flags/config-flags.ts';
import { recordsAt } from '../flags/kept-records.ts';
import type { ProgramProduct } from '../program.ts';
import { adminClient } from './admin-client.ts';

/** Creates what a program gives to the commands of its features. */
export const createCommandTools = (product: ProgramProduct): CommandTools => ({
  configFlags: CONFIG_FLAGS,
  adminFlags: ADMIN_FLAGS,
  adminNotes: ADMIN_NOTES,
  settings: (line, io) => settingsFrom(line, { ...io, product }),
  inspect: (settings, use) =>
    withAssembly(settings, ({ gateway: { contract }, services: { acceptance } }) =>
      use({ contract, isAccepted: acceptance.accepts }),
    ),
  records: (settings) => recordsAt(settings),
  admin: (line, io) => adminClient(line, { ...io, product }),
});
