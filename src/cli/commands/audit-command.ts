import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { audit, type AuditFinding, auditLines } from '../../workbench/audit/audit.ts';
import { readRoles } from '../../engine/load-start.ts';
import type { Settings } from '../../engine/config/settings.ts';
import { systemClock } from '../../lib/clock.ts';
import { isAtLeast, SEVERITIES, severityCounts } from '../../engine/model/severity.ts';
import { EXIT } from '../../lib/command.ts';
import type { ProgramCommand, ProgramIo } from '../program.ts';
import { FORMAT_FLAG, wantsJson } from '../command-output.ts';
import { jsonDocument } from '../../lib/json-document.ts';
import { CONFIG_FLAGS, settingsFrom, withAssembly } from '../flags/config-flags.ts';
import { choiceFlag } from '../../lib/flag-values.ts';

/** The `portico audit` command ranks the risks in a valid configuration. */
export const auditCommand: ProgramCommand = {
  name: 'audit',
  summary: 'List the risks of the configuration, worst first',
  args: '',
  argCount: [0, 0],
  flags: [
    ...CONFIG_FLAGS,
    FORMAT_FLAG,
    {
      name: 'fail-on',
      value: 'SEVERITY',
      choices: SEVERITIES,
      help: `Exit with code 1 if there is a finding of this severity or worse: ${SEVERITIES.join(', ')}.`,
    },
  ],
  notes: [
    'portico check reports errors that prevent Portico from starting, and settings that have no effect. portico audit',
    'assumes that the configuration is valid, and reports what an attacker or an outage could do with it. It sends no',
    'requests. Without --fail-on, the exit code is 0 even if there are findings.',
    '',
    'Example: portico audit --fail-on high',
  ],
  run: async (line, io) => {
    const bound = choiceFlag(line, 'fail-on', SEVERITIES);
    const json = wantsJson(line);
    const settings = await settingsFrom(line, io);
    const findings = await auditOf(settings, io);
    const failed = bound === undefined ? [] : findings.filter(({ severity }) => isAtLeast(severity, bound));
    const ok = failed.length === 0;
    if (json) io.out(jsonDocument('audit', { ok, configuration: settings.file, mode: settings.mode.name, findings }));
    else auditLines(settings, findings).forEach(io.out);
    if (!ok) io.err(`portico: findings of severity ${bound} or worse: ${severityCounts(failed)}`);
    return ok ? EXIT.ok : EXIT.failed;
  },
};

/** Assembles the gateway and applies all audit rules. Throws a StartFault with all configuration errors. */
function auditOf(settings: Settings, { env, cwd }: ProgramIo): Promise<readonly AuditFinding[]> {
  return withAssembly(settings, ({ gateway: { contract }, prepared }) =>
    audit({
      settings,
      operations: contract.operations,
      roles: readRoles(settings),
      stateOf: (feature) => ({ prepared: prepared.get(feature)?.value, contract, now: systemClock() }),
      env,
      configFile: resolve(cwd, settings.file),
      modeOf: permissionBits,
    }),
  );
}

// On Windows, permission bits do not show who can read a file.
const permissionBits = (file: string): number | undefined =>
  process.platform === 'win32' ? undefined : statSync(file, { throwIfNoEntry: false })?.mode;
