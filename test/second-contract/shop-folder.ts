import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/lib/package-root.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { fastHash } from '../builders/fast-roles.ts';
import { tempFolder } from '../builders/temp-folder.ts';

/** A book of the shop, and what a client sends for it. */
export const BOOK = { id: 7, title: 'Ulysses', seller: 'sylvia', stock: 3, purchasePrice: 4.5 };
export const NEW = { title: 'Ulysses', isbn: '9780141182803' };

/** Starts the shop's server. */
export const startShop = () =>
  startFakeUpstream(({ path, method }) => {
    if (path === '/shop/books' && method === 'GET') return { json: { books: [BOOK], pageCount: 2 } };
    if (path === '/shop/books/8') return { json: { ...BOOK, id: 8, title: '' } };
    if (path === '/shop/books/9') return { status: 404, json: { problem: { text: 'No such book.' } } };
    if (path.startsWith('/shop/books')) return { status: method === 'POST' ? 201 : 200, json: BOOK };
    return { json: {} };
  });

/** Creates a folder with the shop's contract and its roles. Returns its path. */
export async function shopFolder(): Promise<string> {
  const folder = tempFolder();
  for (const [from, to] of [
    [join(import.meta.dirname, 'openapi.yaml'), 'openapi.yaml'],
    [join(packageRoot, 'schemas', 'vendor-extensions.schema.json'), 'vendor-extensions.schema.json'],
  ] as const)
    cpSync(from, join(folder, to));
  const account = async (name: string, roles: readonly string[]) => ({
    name,
    roles,
    passwordHash: await fastHash(name),
  });
  const roles = {
    roles: {
      anonymous: { permissions: [] },
      customer: { permissions: ['browse'] },
      seller: { permissions: ['browse', 'sell', 'see prices'] },
    },
    accounts: [await account('carol', ['customer']), await account('sylvia', ['seller'])],
  };
  writeFileSync(join(folder, 'roles.json'), JSON.stringify(roles), { mode: 0o600 });
  return folder;
}
