import { Type } from 'typebox';
import type { Feature } from '../../engine/feature.ts';
import { openBaselineFile, readBaselineFile } from './baseline-file.ts';

const options = Type.String({
  minLength: 1,
  description: 'File of accepted violations, relative to the configuration file.',
});

/** Reads and changes the file of accepted violations (docs/ledger.md). */
export const baseline = {
  name: 'contract.baseline',
  options,
  files: { '': 'document' },
  acceptance: {
    open: (file, { placeOf }) => openBaselineFile(file, placeOf('/contract/baseline')),
    read: readBaselineFile,
  },
} as const satisfies Feature<typeof options>;
