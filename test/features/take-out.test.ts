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
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FEATURES } from '../../src/features.ts';
import { PROFILE_FEATURES } from '../../src/profile/profile.ts';
import { finished, startPortico, untilSays } from '../cli/run-portico.ts';
import { cleanUpAfterTest } from '../builders/clean-up.ts';

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

/** Starts the program of a checkout with the reference server, and returns its responses to a walk of safe requests. */
async function walk(checkout: string): Promise<readonly unknown[]> {
  const env = { PORT: '0', ADMIN_PORT: '0', PORTICO_DB: ':memory:' };
  const child = startPortico(['serve'], env, join(checkout, 'bin', 'portico.mjs'));
  cleanUpAfterTest(() => child.kill('SIGKILL'));
  child.stdout.resume();
  const ended = finished(child);
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(await untilSays(child, /admin +http:\S+/)) ?? [];
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
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
  // The id of a request differs each time.
  for (const { body } of responses) Object.assign(body, { requestId: undefined });
  return responses;
}

describe('every feature', () => {
  let whole: readonly unknown[];
  let copy: Copy;

  beforeAll(async () => {
    copy = new Copy();
    whole = await walk(copy.folder);
  });

  afterAll(() => rmSync(copy.folder, { recursive: true }));

  it('has a folder of its own and a line in the list', () => {
    expect(folders).toHaveLength(FEATURES.length - PROFILE_FEATURES.length);
    expect(whole[0]).toMatchObject({ status: 200 });
  });

  // What is left has no type error if only some features are missing: the features cannot refer to each other or to the
  // list, which test/architecture.test.ts checks, and nothing else refers to any of them.
  it('is unknown to the types of everything else', async () => {
    const putBack = copy.takeOut(folders);
    try {
      await copy.check();
    } finally {
      putBack();
    }
  });

  it.each(folders)('can be taken out with its folder and its line: %s', async (...feature) => {
    const putBack = copy.takeOut([feature]);
    try {
      expect(await walk(copy.folder)).toEqual(whole);
    } finally {
      putBack();
    }
  });
});
