import { join, relative, resolve } from 'node:path';
import { fileReason } from '../../lib/file-reason.ts';
import { contractFolder } from '../../engine/contract/contract-files.ts';
import { bundleSchemas, generateSchemas } from '../../engine/contract/generate/generate-schemas.ts';
import { compareSchemas, writeSchemas } from '../../engine/contract/generate/schema-folder.ts';
import { loadContract } from '../../engine/contract/load-contract.ts';
import { StartFault } from '../../engine/model/fault.ts';
import { EXIT, UsageError } from '../../lib/command.ts';
import type { ProgramCommand } from '../program.ts';
import { CONFIG_FLAGS, settingsFrom } from '../flags/config-flags.ts';
import { warningLines } from '../terminal/banner.ts';

/** The `portico schemas` command writes the contract's JSON Schemas to files, for people and other programs. */
export const schemasCommand: ProgramCommand = {
  name: 'schemas',
  summary: 'Write the contract’s JSON Schemas, or compare them with existing files',
  args: '',
  argCount: [0, 0],
  flags: [
    ...CONFIG_FLAGS.filter(({ name }) => name === 'config'),
    { name: 'folder', value: 'FOLDER', help: 'The folder with openapi.yaml; contract.folder by default.' },
    { name: 'output', value: 'FOLDER', help: 'The folder for the schemas; the contract’s folder by default.' },
    { name: 'check', help: 'Write nothing; list missing, stale and superfluous files, and fail if there are any.' },
  ],
  notes: [
    'The command writes one file per resource to resources/ and one per operation to operations/. The gateway does not',
    'read these files, because it generates the same schemas in memory at startup.',
    '',
    'The schemas include the configured overlays. If there are any, --output is required, so that the schemas next to',
    'openapi.yaml always describe openapi.yaml itself.',
    '',
    'Example: portico schemas --check',
    'Example: portico schemas --config config/portico.yaml --output build/schemas',
  ],
  run: async (line, io) => {
    const { contract } = await settingsFrom(line, io);
    const [folder, output] = [line.last('folder'), line.last('output')];
    if (contract.overlays.length > 0 && output === undefined)
      throw new UsageError('the configuration has overlays: --output is required');
    const options = folder === undefined ? contract : { ...contract, folder: resolve(io.cwd, folder) };
    const { document, warnings } = loadContract(options);
    warningLines(warnings).forEach(io.err);
    const generated = bundleSchemas(generateSchemas(document));
    const target = output === undefined ? (options.folder ?? contractFolder()) : resolve(io.cwd, output);
    const isCheck = line.last('check') !== undefined;
    const { missing, stale, superfluous } = withFolderErrors(target, () =>
      isCheck ? compareSchemas(target, generated) : writeSchemas(target, generated),
    );
    if (!isCheck) {
      const counts = `${missing.length} new, ${stale.length} changed, ${superfluous.length} removed`;
      io.out(`${generated.size} files: ${counts}`);
      return EXIT.ok;
    }
    const differing = Object.entries({ missing, stale, superfluous }).flatMap(([problem, names]) =>
      names.map((name) => `${problem.padEnd(11)}  ${relative(io.cwd, join(target, name))}`),
    );
    differing.forEach(io.err);
    if (differing.length === 0) io.out(`${generated.size} generated files are up to date`);
    else io.err(`portico: ${differing.length} files differ; run the same command without --check`);
    return differing.length === 0 ? EXIT.ok : EXIT.failed;
  },
};

/** Runs `work`. Throws a StartFault if the folder or a file in it cannot be read or written. */
function withFolderErrors<T>(target: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new StartFault([{ source: target, pointer: '', message: `cannot be used: ${fileReason(error)}` }]);
  }
}
