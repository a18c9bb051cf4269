import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { audit, type AuditFinding } from '../../audit/audit.ts';
import type { AuditSubject } from '../../audit/audit-rule.ts';
import { readRoles } from '../../assembly/load-permissions.ts';
import type { Settings } from '../../config/settings.ts';
import { startingState } from '../../ladder/ladder-step.ts';
import { systemClock } from '../../lib/clock.ts';
import { isAtLeast, SEVERITIES, severityCounts } from '../../model/severity.ts';
import { plainText } from '../../report/plain-text.ts';
import { type Command, type CommandIo, EXIT } from '../command.ts';
import { CONFIG_FLAGS, settingsFrom, withAssembly } from '../flags/config-flags.ts';
import { choiceFlag, FORMAT_FLAG, wantsJson } from '../flags/flag-values.ts';
import { auditJson } from '../terminal/json-output.ts';

/** The `portico audit` command ranks the risks in a valid configuration. */
export const auditCommand: Command = {
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
    const findings = audit(await subjectOf(settings, io));
    const failed = bound === undefined ? [] : findings.filter(({ severity }) => isAtLeast(severity, bound));
    if (json) io.out(auditJson(settings, findings, failed.length === 0));
    else auditLines(settings, findings).forEach(io.out);
    if (failed.length > 0) io.err(`portico: findings of severity ${bound} or worse: ${severityCounts(failed)}`);
    return failed.length > 0 ? EXIT.failed : EXIT.ok;
  },
};

/** Formats the findings of an audit. */
function auditLines({ file, mode }: Settings, findings: readonly AuditFinding[]): readonly string[] {
  return [
    ...findings.flatMap(({ severity, rule, key, source, found, risk, fix }) => [
      `${severity.toUpperCase()}  ${rule}`,
      `  ${key} (${source}): ${plainText(found.join('; '))}`,
      `  risk: ${risk}`,
      `  fix:  ${fix}`,
      '',
    ]),
    `Findings in ${file} (mode ${mode.name}): ${severityCounts(findings)}`,
  ];
}

/** Reads everything that the audit rules need. Throws a StartFault with all configuration errors. */
function subjectOf(settings: Settings, { env, cwd }: CommandIo): Promise<AuditSubject> {
  return withAssembly(settings, ({ gateway, services, storedLadder }) => ({
    settings,
    operations: gateway.contract.operations,
    roles: readRoles(settings),
    ladder: startingState(storedLadder, gateway.contract.version, systemClock()).steps,
    overrides: services.overrides.active(),
    env,
    configFile: resolve(cwd, settings.file),
    modeOf: permissionBits,
  }));
}

// On Windows, permission bits do not show who may read a file.
function permissionBits(file: string): number | undefined {
  if (process.platform === 'win32') return undefined;
  return statSync(file, { throwIfNoEntry: false })?.mode;
}
