import { closeSync, fstatSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../../files/replace-file.ts';
import { tellFault } from './ledger-file-error.ts';

/**
 * Makes a ledger's file and its folder where there are none, and sees that it can be written; true when it holds nothing yet.
 * Made before SQLite opens it, which would make it readable for everybody; its companions inherit that.
 */
export function beginFile(path: string): boolean {
  return tellFault(path, () => {
    makeFolder(dirname(path));
    const file = openSync(path, 'a', 0o600);
    try {
      return fstatSync(file).size === 0;
    } finally {
      closeSync(file);
    }
  });
}
