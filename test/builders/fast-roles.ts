import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { hashPassword } from '../../src/engine/identity/password-hash.ts';

/** An account in the format of the roles file. */
export interface RolesAccount {
  readonly name: string;
  readonly roles: readonly string[];
  readonly groups?: readonly string[];
  readonly flags?: readonly string[];
  readonly demo?: boolean;
}

/** A known user without permissions. */
const NOBODY: RolesAccount = { name: 'nobody', roles: [] };

/**
 * Returns the package's roles file with additional accounts. Each account's password is its name, and the hashes use
 * the cheapest parameters.
 */
export async function fastRoles(
  more: readonly RolesAccount[] = [],
  also: { readonly roles?: object } = {},
): Promise<string> {
  if (more.length === 0 && also.roles === undefined) return (plain ??= build([], {}));
  return build(more, also);
}

// The file is built only once, because most test gateways use it, and reading and writing YAML is slow.
let plain: Promise<string> | undefined;

async function build(more: readonly RolesAccount[], also: { readonly roles?: object }): Promise<string> {
  const text = readFileSync(new URL('../../config/roles.yaml', import.meta.url), 'utf8');
  const file = parse(text) as { roles: object; accounts: RolesAccount[] };
  const accounts = await Promise.all([...file.accounts, NOBODY, ...more].map(withHash));
  return stringify({ ...file, roles: { ...file.roles, ...also.roles }, accounts });
}

async function withHash(account: RolesAccount): Promise<RolesAccount & { passwordHash: string }> {
  return Object.assign({}, account, { passwordHash: await fastHash(account.name) });
}

const made = new Map<string, Promise<string>>();

/** Returns the hash of a password with the cheapest parameters. */
export function fastHash(password: string): Promise<string> {
  const hash = made.get(password) ?? hashPassword(password, { memory: 8, passes: 1, parallelism: 1 });
  made.set(password, hash);
  return hash;
}
