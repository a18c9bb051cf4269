import type { Settings } from '../config/settings.ts';
import { contractFolder } from '../contract/contract-files.ts';
import { readDocument } from '../contract/document/read-document.ts';
import type { DocumentNode } from '../learn/document.ts';
import { readObservationFile } from '../learn/observations/observation-file.ts';
import type { Observations } from '../learn/observations/observations.ts';

/** What learning starts with: the document of the enforced contract and the stored observations. */
export interface LearnedBefore {
  readonly document: DocumentNode;
  readonly observations: Observations;
}

/** Returns the contract document, with its overlays applied, for comparison with traffic. */
export function readLearnDocument({ contract }: Pick<Settings, 'contract'>): DocumentNode {
  return readDocument(contract.folder ?? contractFolder(), contract.overlays).document;
}

/**
 * If `learn.traffic` is on, reads the document and the stored observations. If the gateway is already `running`, its
 * observations are used instead of the stored ones. Throws a StartFault if a file is invalid.
 */
export function loadLearned(settings: Settings, running?: LearnedBefore): LearnedBefore | undefined {
  const { traffic, file } = settings.learn;
  if (!traffic) return undefined;
  const observations = running?.observations ?? readObservationFile(file, settings.placeOf('/learn/file'), 0);
  return { document: readLearnDocument(settings), observations };
}
