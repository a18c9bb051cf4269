import type { Settings } from '../engine/config/settings.ts';
import { contractFolder } from '../engine/contract/contract-files.ts';
import { readDocument } from '../engine/contract/document/read-document.ts';
import type { DocumentNode } from './document.ts';

/** Returns the contract document, with its overlays applied, for comparison with responses. */
export function readLearnDocument({ contract }: Pick<Settings, 'contract'>): DocumentNode {
  return readDocument(contract.folder ?? contractFolder(), contract).document;
}
