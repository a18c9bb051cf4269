import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as LoadSettings from '../../src/engine/config/load-settings.ts';
import type * as UpstreamUrl from '../../src/engine/config/settings.ts';
import type * as Gateways from '../../src/engine/gateway.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import type * as Features from '../../src/features.ts';
import { FEATURES } from '../../src/features.ts';
import type * as PorticoSettings from '../../src/portico-settings.ts';
import { PROFILE_FEATURES } from '../../src/profile/profile.ts';
import { type ReferenceServer, startReferenceServer } from '../../src/reference/start-reference-server.ts';
import { cleanUpAfterTest } from '../builders/clean-up.ts';
import { finished, startPortico, untilSays } from '../cli/run-portico.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const list = readFileSync(join(root, 'src', 'features.ts'), 'utf8');
const COPIED = ['src', 'schemas', 'config', 'bin', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];

/** The folder of each feature, by the feature's name in the list. */
const folders = [...list.matchAll(/^import \{ (\w+) \} from '\.\/features\/([\w-]+)\//gm)].map(
  ([, name = '', folder = '']) => [name, folder] as const,
);

/** A copy of what Portico needs to be checked and started, from which features can be taken out. */
class Copy {
  readonly folder = mkdtempSync(join(tmpdir(), 'portico-take-out-'));

  constructor() {
    for (const part of COPIED) cpSync(join(root, part), join(this.folder, part), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** Checks the types of everything in the copy. */
  async check(): Promise<void> {
    const compiler = join(root, 'node_modules', '.bin', 'tsc');
    // One thread takes half of the processor time that several take.
    const options = ['--noEmit', '--singleThreaded', '--project', 'tsconfig.build.json'];
    await run(compiler, options, { cwd: this.folder });
  }

  /** Loads a file of `src`. Files with different marks are loaded separately, but share all others. */
  load<Module>(path: string, mark = ''): Promise<Module> {
    return import(`${pathToFileURL(join(this.folder, 'src', path)).href}${mark}`) as Promise<Module>;
  }

  /** Takes out the folders and the lines of features. Returns a function that puts them back. */
  takeOut(features: readonly (readonly [name: string, folder: string])[]): () => void {
    const out = new Set(features.map(([name]) => name));
    const kept = folders.flatMap(([name]) => (out.has(name) ? [] : [name]));
    const lines = features.map(([, folder]) => new RegExp(`^.*/features/${folder}/.*\n`, 'm'));
    const without = lines
      .reduce((text, line) => text.replace(line, ''), list)
      .replace(/(?<=^const list = \[\s*\.\.\.PROFILE_FEATURES)[^\]]*(?=\])/m, kept.map((name) => `, ${name}`).join(''));
    const [present, taken] = [join(this.folder, 'src', 'features'), join(this.folder, 'taken')];
    mkdirSync(taken);
    for (const [, folder] of features) renameSync(join(present, folder), join(taken, folder));
    writeFileSync(join(this.folder, 'src', 'features.ts'), without);
    return () => {
      for (const [, folder] of features) renameSync(join(taken, folder), join(present, folder));
      rmdirSync(taken);
      writeFileSync(join(this.folder, 'src', 'features.ts'), list);
    };
  }
}

/** Returns the responses of a gateway to a walk of safe requests. */
async function walk(url: string): Promise<readonly unknown[]> {
  const headers = { authorization: `Basic ${btoa('admin:admin')}`, accept: 'application/json' };
  const get = async (path: string) => {
    const response = await fetch(`${url}/services/v2/${path}`, { headers });
    return { path, status: response.status, body: (await response.json()) as { list?: { id: number }[] } };
  };
  const questions = await get('question.json?pageSize=5&sort=newest');
  const [question] = questions.body.list ?? [];
  const paths = [
    'question.json?page=2&includeOnly=id,title',
    'idea.json',
    'article.json',
    'action.json',
    'group/1/user.json',
    `node/${question?.id}/comment.json`,
    `node/${question?.id}/followers.json`,
    'jobs/gdpr/abc.json',
    'comment/abc.json',
    'question.json?pageSize=0',
  ];
  const responses = [questions, ...(await Promise.all(paths.map(get)))];
  // The id of a request differs each time.
  for (const { body } of responses) Object.assign(body, { requestId: undefined });
  return responses;
}

/** Starts the program of a copy with the reference server, and returns its responses to the walk. */
async function walkProgram(copy: Copy): Promise<readonly unknown[]> {
  const env = { PORT: '0', ADMIN_PORT: '0', PORTICO_DB: ':memory:' };
  const child = startPortico(['serve'], env, join(copy.folder, 'bin', 'portico.mjs'));
  cleanUpAfterTest(() => child.kill('SIGKILL'));
  child.stdout.resume();
  const ended = finished(child);
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(await untilSays(child, /admin +http:\S+/)) ?? [];
  const responses = await walk(url);
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
  return responses;
}

/**
 * Starts a gateway of a copy with the features that its list has now. The list is loaded for each gateway. The engine is
 * loaded once, because a process for each feature takes ten times as long.
 */
async function startGateway(copy: Copy, mark: string, { url }: ReferenceServer): Promise<Gateway> {
  const { FEATURES: features } = await copy.load<typeof Features>('features.ts', `?${mark}`);
  const { PORTICO } = await copy.load<typeof PorticoSettings>('portico-settings.ts');
  const { readSettings } = await copy.load<typeof LoadSettings>('engine/config/load-settings.ts');
  const { withUpstreamUrl } = await copy.load<typeof UpstreamUrl>('engine/config/settings.ts');
  const { createGateway } = await copy.load<typeof Gateways>('engine/gateway.ts');
  const env = { PORT: '0', ADMIN_PORT: '0' };
  const cwd = mkdtempSync(join(copy.folder, 'run-'));
  const { settings, faults } = readSettings({ env, cwd }, { ...PORTICO, features });
  expect(faults).toEqual([]);
  const logStream = { write: () => undefined };
  return createGateway(withUpstreamUrl(settings, url), { env, features, logStream });
}

describe('every feature', () => {
  let reference: ReferenceServer;
  let copy: Copy;
  let complete: Gateway;
  let whole: readonly unknown[];

  beforeAll(async () => {
    copy = new Copy();
    reference = await startReferenceServer();
    // While this gateway runs, the others use its compiled contract.
    complete = await startGateway(copy, 'complete', reference);
    whole = await walk(complete.publicUrl);
  });

  afterAll(async () => {
    await complete.close();
    await reference.close();
    rmSync(copy.folder, { recursive: true });
  });

  it('has a folder of its own and a line in the list', () => {
    expect(folders).toHaveLength(FEATURES.length - PROFILE_FEATURES.length);
    expect(whole[0]).toMatchObject({ status: 200 });
  });

  // What is left has no type error if only some features are missing: the features cannot refer to each other or to the
  // list, which test/architecture.test.ts checks, and nothing else refers to any of them.
  it('is unknown to the types and the program of everything else', async () => {
    const putBack = copy.takeOut(folders);
    try {
      await copy.check();
      expect(await walkProgram(copy)).toEqual(whole);
    } finally {
      putBack();
    }
  });

  it.each(folders)('can be taken out with its folder and its line: %s', async (...feature) => {
    const putBack = copy.takeOut([feature]);
    try {
      const gateway = await startGateway(copy, feature[0], reference);
      expect(await walk(gateway.publicUrl)).toEqual(whole);
      await gateway.close();
    } finally {
      putBack();
    }
  });
});
