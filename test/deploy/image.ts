import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { DockerfileParser, type PropertyInstruction } from 'dockerfile-ast';
import { packageRoot } from '../../src/lib/package-root.ts';
import { tempFolder } from '../builders/temp-folder.ts';

/** The image settings that tests read. */
export interface ImageSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: string;
  readonly workingFolder: string;
  readonly volume: string;
  /** The entry point, followed by the default command. */
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

/** Returns the text of a file in `deploy/`. */
export function deployFile(...path: string[]): string {
  return fs.readFileSync(join(packageRoot, 'deploy', ...path), 'utf8');
}

/** Returns the settings from the Dockerfile's last stage. */
export function imageSettings(): ImageSettings {
  const all = DockerfileParser.parse(deployFile('Dockerfile')).getInstructions();
  const stage = all.slice(all.findLastIndex((one) => one.getKeyword() === 'FROM'));
  const text = (keyword: string) => stage.findLast((one) => one.getKeyword() === keyword)?.getArgumentsContent() ?? '';
  const list = (keyword: string) => JSON.parse(/\[.*\]$/s.exec(text(keyword))?.[0] ?? '[]') as string[];
  const properties = (keyword: string) =>
    Object.fromEntries(
      stage
        .filter((one) => one.getKeyword() === keyword)
        .flatMap((one) => (one as PropertyInstruction).getProperties())
        .map((one) => [one.getName(), one.getValue() ?? '']),
    );
  return {
    env: properties('ENV'),
    labels: properties('LABEL'),
    user: text('USER'),
    workingFolder: text('WORKDIR'),
    volume: text('VOLUME'),
    command: [...list('ENTRYPOINT'), ...list('CMD')],
    healthCheck: list('HEALTHCHECK'),
  };
}

/** The image's files, unpacked into a folder, and functions for running programs there. */
export interface UnpackedImage {
  /** The folder that takes the place of the image's root. */
  readonly root: string;
  /**
   * Starts a command with the image's user, working directory and environment, plus the given variables. The command
   * can write only to the volume and /tmp.
   */
  readonly start: (
    command: readonly string[],
    env?: Readonly<Record<string, string>>,
  ) => ChildProcessWithoutNullStreams;
  /** Makes the compiled code's folder read-only, because the whole image is read-only once it is built. */
  readonly seal: () => void;
  /**
   * Writes files to a new folder in the way that Kubernetes mounts volumes: the files belong to root and to the image's
   * group.
   */
  readonly mount: (folder: string, files: Readonly<Record<string, string>>, mode: number) => void;
}

/**
 * Collects the image's files in a temporary folder. No container engine is needed. The function takes the files that
 * `.dockerignore` allows, runs the build, and keeps only the production packages. Node, busybox and their libraries
 * come from this machine. If this process runs as root, the folder is the programs' root folder (`chroot`). Otherwise,
 * they see the folder's real paths.
 */
export function unpackImage(busybox: string): UnpackedImage {
  const settings = imageSettings();
  const isRoot = process.getuid?.() === 0;
  const root = tempFolder();
  const inImage = (path: string) => join(root, path);
  // Copying thousands of files can take seconds, so they are linked where that is safe: the image's programs do
  // not run as root, so they cannot write to files owned by root.
  const putFile = (from: string, to: string) => {
    if (!isRoot || !link(from, to)) fs.copyFileSync(from, to);
  };
  const put = (from: string, to: string, omitted: readonly string[] = []) => {
    if (fs.statSync(from).isDirectory()) {
      fs.mkdirSync(to, { recursive: true });
      for (const name of fs.readdirSync(from)) put(join(from, name), join(to, name), omitted);
    } else if (!omitted.some((end) => from.endsWith(end))) {
      fs.mkdirSync(dirname(to), { recursive: true });
      putFile(fs.realpathSync(from), to);
    }
  };

  for (const name of buildContext()) put(join(packageRoot, name), inImage(`/portico/${name}`));
  fs.symlinkSync(join(packageRoot, 'node_modules'), inImage('/portico/node_modules'));
  // The sources are type-checked elsewhere, and checking them here would take longer than the build itself.
  const built = spawnSync(process.execPath, ['tools/build.ts', '--noCheck'], {
    cwd: inImage('/portico'),
    encoding: 'utf8',
    // With the default setting, the TypeScript compiler spends a fifth of its time on garbage collection.
    env: { ...process.env, GOGC: '400' },
  });
  if (built.status !== 0) throw new Error(`${built.stdout}${built.stderr}`);
  fs.rmSync(inImage('/portico/node_modules'));
  for (const name of ['src', 'tools', 'tsconfig.json', 'tsconfig.build.json', 'deploy'])
    fs.rmSync(inImage(`/portico/${name}`), { recursive: true });

  const unread = [...deployFile('Dockerfile').matchAll(/-name '\*(\.[\w.]+)'/g)].map(([, end = '']) => end);
  for (const one of fs.readdirSync(inImage('/portico/dist'), { recursive: true, withFileTypes: true }))
    if (unread.some((end) => one.name.endsWith(end))) fs.rmSync(join(one.parentPath, one.name));
  for (const name of productionPackages()) put(join(packageRoot, name), inImage(`/portico/${name}`), unread);

  put(process.execPath, inImage('/usr/local/bin/node'));
  put(busybox, inImage('/bin/busybox'));
  put(join(packageRoot, 'deploy', 'healthcheck.sh'), inImage('/usr/local/bin/healthcheck.sh'));
  for (const library of librariesOf(process.execPath, busybox)) put(library, inImage(library));
  // Creating a device requires privileges, and a file works equally well here.
  fs.mkdirSync(inImage('/dev'));
  fs.writeFileSync(inImage('/dev/null'), '');
  fs.mkdirSync(inImage('/tmp'));

  // Only the volume and /tmp are writable and, until the image is sealed, the folder for compiled code. A linked file
  // has the mode of the original, which must not change.
  spawnSync('find', [root, '(', '-type', 'd', '-o', '-links', '1', ')', '-exec', 'chmod', 'a=rX,u+x', '{}', '+']);
  fs.mkdirSync(inImage(settings.volume));
  const [uid = 0, gid = 0] = settings.user.split(':').map(Number);
  const cache = '/portico/node_modules/.cache';
  fs.chmodSync(inImage(dirname(cache)), 0o755);
  fs.mkdirSync(inImage(cache));
  for (const path of [settings.volume, cache, '/tmp', '/dev/null']) {
    if (isRoot) fs.chownSync(inImage(path), uid, gid);
    fs.chmodSync(inImage(path), 0o700);
  }

  // If this process does not run as root, paths in commands and variables are replaced with the copy's paths.
  const local = (text: string) => (/^\/(?:portico|data|usr|bin|etc|run)\//.test(text) ? inImage(text) : text);
  return {
    root,
    seal: () => void spawnSync('chmod', ['-R', 'a-w', inImage(cache)]),
    mount(folder, files, mode) {
      fs.chmodSync(root, 0o755);
      fs.mkdirSync(inImage(folder), { recursive: true });
      for (const [name, text] of Object.entries(files)) {
        const path = inImage(join(folder, name));
        fs.writeFileSync(path, text);
        if (isRoot) fs.chownSync(path, 0, gid);
        fs.chmodSync(path, mode);
      }
    },
    start(command, env = {}) {
      const all = { ...settings.env, ...env };
      if (isRoot) {
        const enter = ['/bin/busybox', 'sh', '-c', 'cd "$0" && exec "$@"', settings.workingFolder, ...command];
        return spawn('/usr/sbin/chroot', [`--userspec=${settings.user}`, '--groups=', root, ...enter], { env: all });
      }
      const [program = '', ...rest] = command.map(local);
      const values = Object.entries(all).map(([name, value]) => [name, local(value)] as const);
      return spawn(program, rest, { cwd: inImage(settings.workingFolder), env: Object.fromEntries(values) });
    },
  };
}

/** Returns the paths that `.dockerignore` allows in the build context. The file must begin by excluding everything. */
function buildContext(): string[] {
  const [first, ...rest] = deployFile('Dockerfile.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const allowed = rest.map((line) => /^!([\w./-]+)$/.exec(line)?.[1]);
  if (first !== '*' || allowed.includes(undefined)) throw new Error('.dockerignore does not list what it allows');
  return allowed.filter((name) => name !== undefined);
}

/** Links a file. Returns false if that is impossible because the paths are on different file systems. */
function link(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EXDEV') return false;
    throw error;
  }
}

/** Returns the folders of the packages that `npm ci --omit=dev` installs. They also contain any nested packages. */
function productionPackages(): string[] {
  const { packages } = JSON.parse(fs.readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { dev?: boolean; devOptional?: boolean }>>;
  };
  return Object.entries(packages)
    .filter(([place, { dev, devOptional }]) => place !== '' && dev !== true && devOptional !== true)
    .map(([place]) => place)
    .filter((place, _, all) => !all.some((other) => place.startsWith(`${other}/`)))
    .filter((place) => fs.existsSync(join(packageRoot, place)));
}

/** Returns the paths of the loader and of the shared libraries that programs need. */
function librariesOf(...programs: readonly string[]): Set<string> {
  const { stdout } = spawnSync('ldd', programs, { encoding: 'utf8' });
  return new Set([...stdout.matchAll(/(?:^|\s)(\/\S+\.so\S*) \(0x/gm)].map(([, path = '']) => path));
}
