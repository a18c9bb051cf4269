import type { AuditFinding } from '../../audit/audit.ts';
import type { Settings } from '../../config/settings.ts';
import type { Examination } from '../../doctor/examine.ts';
import { recommendedConfiguration } from '../../doctor/recommend.ts';
import type { Fault } from '../../model/fault.ts';
import type { PermissionMatrix } from '../../permissions/permission-matrix.ts';
import type { ExplainRequest, ExplainStep } from '../../pipeline/explain.ts';
import type { CompiledGateway } from '../../pipeline/compiled-gateway.ts';
import type { WalkSummary } from '../../walk/walk-tally.ts';

/** Formats the plans of all operations as JSON. */
export function planJson({ plans, undocumented }: Pick<CompiledGateway, 'plans' | 'undocumented'>): string {
  const operations = [...plans.values()].map(({ operation, checks, errors, stages, moved, overridden }) => ({
    operation: operation.id,
    method: operation.method,
    path: operation.path,
    checks,
    errors,
    stages,
    moved: moved ?? [],
    overrides: overridden?.words ?? [],
  }));
  return documentOf('plan', { operations, undocumented: { stages: undocumented.stages } });
}

/** Formats the permission matrix as JSON. */
export function permissionsJson({ subjects, rows }: PermissionMatrix): string {
  const operations = rows.map(({ operation, method, path, cells }) => ({
    operation,
    method,
    path,
    access: subjects.map(({ kind, name }, at) => ({ kind, name, access: cells[at] ?? 'denied' })),
  }));
  return documentOf('permissions', { operations });
}

/** Formats an explanation as JSON. */
export function explainJson({ method, target, as }: ExplainRequest, steps: readonly ExplainStep[]): string {
  const verdict = steps.findLast(({ name }) => name === 'verdict')?.text ?? null;
  return documentOf('explanation', { request: { method, target, as: as ?? null }, verdict, steps });
}

/** Formats the result of `portico check` without a walk as JSON. */
export function checkJson(
  result: { readonly configuration: string; readonly operations: number; readonly mode: string } | undefined,
  { warnings = [], errors = [] }: { readonly warnings?: readonly Fault[]; readonly errors?: readonly Fault[] },
): string {
  const { configuration = null, operations = null, mode = null } = result ?? {};
  return documentOf('check', { ok: errors.length === 0, configuration, operations, mode, warnings, errors });
}

/**
 * Formats the result of a walk as JSON. `report` is the JSON report on the walk, or null if the server did not respond.
 */
export function walkJson(
  { requests, ended, walked, notWalked }: WalkSummary,
  { ok, failures, report }: { readonly ok: boolean; readonly failures: readonly string[]; readonly report: unknown },
): string {
  const walk = {
    requests,
    ended,
    walked: walked.map((one) => ({ ...one, statuses: Object.fromEntries(one.statuses) })),
    notWalked,
  };
  return documentOf('walk', { ok, failures, walk, report });
}

/**
 * Formats the findings of an audit as JSON. `ok` is false if `--fail-on` makes the command fail because of a finding's
 * severity.
 */
export function auditJson({ file, mode }: Settings, findings: readonly AuditFinding[], ok: boolean): string {
  return documentOf('audit', { ok, configuration: file, mode: mode.name, findings });
}

/** Formats the result of a doctor's run as JSON. */
export function doctorJson(examination: Examination): string {
  const { url, requests, findings, recommendations } = examination;
  const steps = examination.steps.map(({ name, facts, notDone = null }) => ({ name, facts, notDone }));
  const configuration = recommendedConfiguration(examination);
  return documentOf('doctor', { url, requests, steps, findings, recommendations, configuration });
}

/** The version of the JSON documents, which increases with every incompatible change. */
const VERSION = 1;

const documentOf = (kind: string, content: object) => JSON.stringify({ version: VERSION, kind, ...content }, null, 2);
