import { formatPermissionMatrix, type PermissionMatrix } from '../../engine/permissions/permission-matrix.ts';
import { EXIT } from '../../lib/command.ts';
import type { ProgramCommand } from '../program.ts';
import { FORMAT_FLAG, wantsJson } from '../command-output.ts';
import { jsonDocument } from '../../lib/json-document.ts';
import { CONFIG_FLAGS, settingsFrom, withAssembly } from '../flags/config-flags.ts';

/** The `portico permissions` command prints the operations that each role and each account may use. */
export const permissionsCommand: ProgramCommand = {
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

function permissionsJson({ subjects, rows }: PermissionMatrix): string {
  const operations = rows.map(({ operation, method, path, cells }) => ({
    operation,
    method,
    path,
    access: subjects.map(({ kind, name }, at) => ({ kind, name, access: cells[at] ?? 'denied' })),
  }));
  return jsonDocument('permissions', { operations });
}
