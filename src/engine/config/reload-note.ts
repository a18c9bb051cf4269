import type { OperatorAction } from '../model/operator-action.ts';
import type { ReloadResult } from './load-settings.ts';

/** Returns what is told about a reload as an operator's action: the names of what has changed, or the errors. */
export function reloadNote(result: ReloadResult): Pick<OperatorAction, 'outcome' | 'reason' | 'after'> {
  if (result.outcome === 'applied') return { outcome: 'done', after: { changed: result.changed } };
  const faults = result.faults.map(({ source, pointer, message }) => `${source} ${pointer}: ${message}`);
  return { outcome: 'refused', reason: faults.join('; ') };
}
