import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCallers } from '../../../src/workbench/compare/callers.ts';
import { basic } from '../../builders/call.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { faultsOf } from './two-servers.ts';

const folder = tempFolder();

describe('the file of callers', () => {
  const passwords = { env: { OLD: 'a', NEW: 'b' }, file: (path: string) => join(folder, path) };
  const read = (text: string) => readCallers(text, 'callers.yaml', passwords);

  it('names an account on each server', () => {
    writeFileSync(join(folder, 'secret'), 'from a file\n');
    const text = `
callers:
  - name: anonymous
  - name: moderator
    old: { user: mod, passwordEnv: OLD }
    new: { user: mod2, passwordFile: secret }`;
    expect(read(text)).toEqual([
      { name: 'anonymous', old: undefined, new: undefined },
      { name: 'moderator', old: basic('mod', 'a'), new: basic('mod2', 'from a file') },
    ]);
  });

  it('is rejected with all of its errors, and without any password', () => {
    const text = `
callers:
  - name: a
    old: { user: 'a:b', passwordEnv: OLD }
  - name: a
    old: { user: x, passwordEnv: NONE, password: hunter2 }
    new: { user: x }
  - { name: '', nwe: 1 }`;
    const faults = faultsOf(() => read(text));
    expect(faults).toEqual([
      'callers.yaml /callers/0 must have an account on both servers, or on none',
      'callers.yaml /callers/0/old/user must be a user name without a colon',
      'callers.yaml /callers/1/name is already the name of another caller',
      'callers.yaml /callers/1/old/password unknown key',
      'callers.yaml /callers/1/old/passwordEnv the variable NONE is not set',
      'callers.yaml /callers/1/new must have either passwordEnv or passwordFile',
      'callers.yaml /callers/2/nwe unknown key',
      'callers.yaml /callers/2/name must be a name of at most 60 letters, digits, spaces or . : _ -',
    ]);
    expect(faults.join()).not.toContain('hunter2');
    expect(faultsOf(() => read('callers: []'))).toHaveLength(1);
    expect(faultsOf(() => read('callers: ['))).toHaveLength(1);
  });
});
