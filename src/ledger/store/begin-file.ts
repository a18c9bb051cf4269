import { closeSync, fstatSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../../files/replace-file.ts';
import { convertFileErrors } from './ledger-file-error.ts';

/**
 * Creates a ledger file and, if necessary, its folder, and checks that the file is writable. Returns true if the file
 * is empty. The file must exist before SQLite opens it, because otherwise SQLite would create it with permissions that
 * let all users read it. SQLite's companion files inherit the permissions of the ledger file.
 */
export function beginFile(path: string): boolean {
  return convertFileErrors(path, () => {
    makeFolder(dirname(path));
    const file = openSync(path, 'a', 0o600);
    try {
      return fstatSync(file).size === 0;
    } finally {
      closeSync(file);
    }
  });
}
