import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { readCommandLine } from './command-line.ts';

const HELP = `Compiles the sources to JavaScript in dist/, and bundles the program with its packages in dist/program/, because
loading a thousand modules takes a quarter of the startup time. The package takes bin/, config/ and schemas/ directly
from the repository.

Usage: npm run build [-- FLAGS]

  --noCheck            Do not check the types.
  --help               Show this help.`;

const { values } = readCommandLine(HELP, { noCheck: { type: 'boolean', default: false } });
const root = join(import.meta.dirname, '..');
const src = join(root, 'src');
const dist = join(root, 'dist');
const program = join(dist, 'program');

/**
 * Lets bundled modules find their files: `import.meta.dirname` stays the folder in dist/ in which the module would be if
 * it were not bundled.
 */
const ownFolders: Plugin = {
  name: 'own-folders',
  transform(code, id) {
    if (!id.startsWith(src) || !code.includes('import.meta.dirname')) return null;
    const folder = relative(src, dirname(id));
    return code.replaceAll('import.meta.dirname', `(import.meta.dirname + ${JSON.stringify(`/../${folder}`)})`);
  },
};

/** Returns the folders of the packages that contain these modules. */
function packagesOf(modules: readonly string[]): readonly string[] {
  const found = modules.map((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0]);
  return [...new Set(found)].filter((one) => one !== undefined).toSorted();
}

/** Returns the license texts of a package. */
function licenseOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly [key in 'name' | 'version' | 'license']: string;
  };
  const texts = readdirSync(folder)
    .filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file))
    .toSorted()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
}

async function bundle(): Promise<void> {
  const build = await rolldown({
    input: { main: join(src, 'cli', 'main.ts') },
    platform: 'node',
    plugins: [ownFolders],
    onwarn: (warning) => {
      throw new Error(warning.message);
    },
  });
  const { output } = await build.write({
    dir: program,
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    // V8 keeps the sources in memory, and a file with a character beyond Latin-1 takes two bytes per character. Lines
    // and names are kept, because stack traces show them.
    comments: false,
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
  });
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  const licenses = packagesOf(modules).map(licenseOf);
  writeFileSync(
    join(program, 'LICENSES.txt'),
    `The files in this folder contain these packages.\n\n${licenses.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`,
  );
}

rmSync(dist, { recursive: true, force: true });
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const args = ['--project', join(root, 'tsconfig.build.json'), ...(values.noCheck ? ['--noCheck'] : [])];
const compiled = spawnSync(process.execPath, [compiler, ...args], { stdio: 'inherit' });
if (compiled.status === 0) {
  // Copies the other files needed by the program, such as the console's pages and the scanner.
  cpSync(src, dist, { recursive: true, filter: (path) => !path.endsWith('.ts') });
  await bundle();
  console.log('dist/ is built; node bin/portico.mjs uses it where src/ is absent');
}
process.exitCode = compiled.status ?? 1;
