import type { Fault } from '../../engine/model/fault.ts';
import { CommandFailure, EXIT } from '../../lib/command.ts';
import type { ProgramCommand } from '../program.ts';
import { ADMIN_FLAGS, ADMIN_NOTES } from '../flags/admin-flags.ts';
import { faultLines } from '../run-program.ts';
import { warningLines } from '../terminal/banner.ts';
import { adminClient, messageOf } from '../tasks/admin-client.ts';

/** The `portico reload` command makes a running gateway reload its configuration. */
export const reloadCommand: ProgramCommand = {
  name: 'reload',
  summary: 'Make a running gateway read its configuration again, without losing requests',
  args: '',
  argCount: [0, 0],
  flags: ADMIN_FLAGS,
  notes: [
    ...ADMIN_NOTES,
    'The gateway reads the files, variables and flags that it was started with: the configuration, the contract, the roles',
    'file and the baseline. If there is an error, the previous configuration stays in use and the exit code is 1.',
  ],
  run: async (line, io) => {
    const admin = adminClient(line, io);
    const { body } = await admin.send('POST', '/reload');
    const result = body as {
      outcome?: unknown;
      changed?: readonly string[];
      faults?: readonly Fault[];
      warnings?: readonly Fault[];
    };
    if (result.outcome === 'refused') {
      faultLines('portico cannot reload', result.faults ?? []).forEach(io.err);
      io.err('The previous configuration stays in use.');
      return EXIT.failed;
    }
    if (result.outcome !== 'applied')
      throw new CommandFailure(`${admin.url} cannot reload: ${messageOf(body) ?? 'the response is not known'}`);
    const { changed = [], warnings = [] } = result;
    warningLines(warnings).forEach(io.err);
    if (changed.length === 0) io.out('Reloaded; nothing has changed.');
    else for (const one of ['Reloaded. Changed:', ...changed.map((name) => `  ${name}`)]) io.out(one);
    return EXIT.ok;
  },
};
