import type { AuditNote } from '../../features/trail/audit-requests.ts';
import type { ReloadResult } from './load-settings.ts';

/** Returns what the audit trail records about a reload: the names of what has changed, or the errors. */
export function reloadNote(result: ReloadResult): AuditNote {
  if (result.outcome === 'applied') return { outcome: 'done', after: { changed: result.changed } };
  const faults = result.faults.map(({ source, pointer, message }) => `${source} ${pointer}: ${message}`);
  return { outcome: 'refused', reason: faults.join('; ') };
}
