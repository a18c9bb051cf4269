import { formatPermissionMatrix } from '../../permissions/permission-matrix.ts';
import { type Command, EXIT } from '../command.ts';
import { CONFIG_FLAGS, settingsFrom, withAssembly } from '../flags/config-flags.ts';
import { FORMAT_FLAG, wantsJson } from '../flags/flag-values.ts';
import { permissionsJson } from '../terminal/json-output.ts';

/** The `portico permissions` command prints the operations that each role and each account may use. */
export const permissionsCommand: Command = {
  name: 'permissions',
  summary: 'Print the operations that each role and each account may use',
  args: '',
  argCount: [0, 0],
  flags: [...CONFIG_FLAGS, FORMAT_FLAG],
  notes: [],
  run: async (line, io) => {
    const render = wantsJson(line) ? permissionsJson : formatPermissionMatrix;
    await withAssembly(await settingsFrom(line, io), ({ permissions }) => io.out(render(permissions)));
    return EXIT.ok;
  },
};
