import { isMap, isSeq, type Document } from 'yaml';
import type { AcceptedViolation } from '../model/baseline.ts';

const HEADER = ` Violations of the contract that are known and accepted: why, by whom, until when.
 Portico reads this file at start (contract.baseline); reports and the console show what is in it.`;

/** Adds a violation to the document of a baseline file, or changes the entry that it has; comments stay where they are. */
export function editBaseline(document: Document, accepted: AcceptedViolation): string {
  const fields = Object.entries(accepted).filter(([, value]) => value !== undefined);
  const entry = Object.fromEntries(fields);
  if (!isMap(document.contents)) {
    const comment = document.commentBefore;
    document.contents = document.createNode({ accepted: [entry] });
    document.commentBefore = comment ?? HEADER;
    return document.toString({ lineWidth: 0 });
  }
  const list = document.get('accepted');
  if (!isSeq(list)) {
    document.set('accepted', document.createNode([entry]));
    return document.toString({ lineWidth: 0 });
  }
  const known = list.items.find((item) => isMap(item) && item.get('fingerprint') === accepted.fingerprint);
  if (!isMap(known)) list.add(document.createNode(entry));
  else {
    for (const [key, value] of fields) known.set(key, value);
    if (accepted.expires === undefined) known.delete('expires');
  }
  list.flow = false;
  return document.toString({ lineWidth: 0 });
}
