import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { limitCompileCache } from './builders/compile-cache.ts';
import { tempFolder } from './builders/temp-folder.ts';

it("the tests' compile cache loses what another version of Node has stored, and what has become too large", () => {
  const folder = tempFolder();
  const own = `${process.version}-${process.arch}`;
  const store = (part: string, files: number) => {
    mkdirSync(join(folder, part));
    for (let file = 1; file <= files; file += 1) writeFileSync(join(folder, part, String(file)), '');
  };
  store(`${own}-1`, 3);
  store(`${own}-2`, 4);
  store(`v1.0.0-${process.arch}-1`, 1);
  limitCompileCache(folder, 3);
  expect(readdirSync(folder)).toEqual([`${own}-1`]);
  expect(readdirSync(join(folder, `${own}-1`))).toHaveLength(3);
});

it("the tests' compile cache need not exist", () => {
  expect(() => limitCompileCache(join(tempFolder(), 'missing'))).not.toThrow();
});
