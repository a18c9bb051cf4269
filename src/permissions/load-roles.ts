import { closestName } from '../lib/closest-name.ts';
import { pointerTo } from '../lib/json-pointer.ts';
import { type Fault, StartFault } from '../model/fault.ts';
import { parseRolesText, type RawRoles } from './parse-roles-text.ts';
import type { RolesFile } from './roles-file.ts';

/** Parses and checks a roles file. Throws StartFault with all errors in it. `catalogue` contains the names in the contract. */
export function loadRoles(text: string, source: string, catalogue: Catalogue | undefined): RolesFile {
  const parsed = parseRolesText(text, source);
  const faults: readonly Fault[] = parsed.raw ? checkRoles(parsed.raw, source, catalogue) : parsed.faults;
  if (!parsed.raw || faults.length > 0) throw new StartFault(faults);
  return toRolesFile(parsed.raw, source);
}

function toRolesFile(raw: RawRoles, source: string): RolesFile {
  return {
    source,
    unmapped: raw.unmapped,
    roles: new Map(
      Object.entries(raw.roles).map(([name, { inherits = [], permissions = [] }]) => [name, { inherits, permissions }]),
    ),
    accounts: (raw.accounts ?? []).map(({ name, roles, groups = [], flags = [], demo = false, passwordHash }) => {
      return { name, roles, groups, flags, demo, passwordHash };
    }),
  };
}

/** All names in the contract and the configuration. */
interface Catalogue {
  readonly permissions: readonly string[];
  readonly groups: readonly string[];
  readonly flags: readonly string[];
}

/** Returns the errors in a roles file that matches the schema: unknown names, cycles and duplicate accounts. */
function checkRoles(raw: RawRoles, source: string, catalogue: Catalogue | undefined): Fault[] {
  const faults: Fault[] = [];
  const roleNames = Object.keys(raw.roles);
  const groups = [...(raw.groups ?? []), ...(catalogue?.groups ?? [])];
  const flags = [...(raw.flags ?? []), ...(catalogue?.flags ?? [])];
  const expect = (what: string, given: readonly string[], known: readonly string[] | undefined, pointer: string) => {
    given.forEach((name, index) => {
      if (known === undefined || known.includes(name)) return;
      const suggestion = closestName(name, known);
      const message = `"${name}" is not a known ${what}`;
      faults.push({ source, pointer: `${pointer}/${index}`, message, ...(suggestion ? { suggestion } : {}) });
    });
  };

  for (const [name, { inherits = [], permissions = [] }] of Object.entries(raw.roles)) {
    const pointer = pointerTo(['roles', name]);
    expect('role', inherits, roleNames, `${pointer}/inherits`);
    expect('permission', permissions, catalogue?.permissions, `${pointer}/permissions`);
  }
  for (const cycle of inheritanceCycles(raw.roles))
    faults.push({ source, pointer: `/roles`, message: `roles inherit each other: ${cycle.join(' → ')}` });

  const seen = new Set<string>();
  (raw.accounts ?? []).forEach((account, index) => {
    const pointer = `/accounts/${index}`;
    if (seen.has(account.name)) faults.push({ source, pointer, message: `duplicate account "${account.name}"` });
    seen.add(account.name);
    expect('role', account.roles, roleNames, `${pointer}/roles`);
    expect('group', account.groups ?? [], groups, `${pointer}/groups`);
    expect('flag', account.flags ?? [], flags, `${pointer}/flags`);
  });
  if (raw.unmapped !== undefined) expectUnmapped(raw.unmapped, roleNames, source, faults);
  return faults;
}

function expectUnmapped(unmapped: string, roleNames: readonly string[], source: string, faults: Fault[]): void {
  const known = ['delegate', 'deny', ...roleNames];
  if (known.includes(unmapped)) return;
  const suggestion = closestName(unmapped, known);
  const message = `"${unmapped}" is not delegate, deny or a role`;
  faults.push({ source, pointer: '/unmapped', message, ...(suggestion ? { suggestion } : {}) });
}

type Inheritance = Readonly<Record<string, { readonly inherits?: readonly string[] }>>;

/** Returns each inheritance cycle once, as its roles with the first one repeated at the end. */
function inheritanceCycles(roles: Inheritance): string[][] {
  const heirs = new Map(Object.entries(roles).map(([name, { inherits = [] }]) => [name, inherits]));
  const cycles = new Map<string, string[]>();
  const done = new Set<string>();
  const visit = (name: string, trail: readonly string[]) => {
    const start = trail.indexOf(name);
    if (start >= 0) {
      const cycle = trail.slice(start);
      cycles.set([...cycle].sort().join('\n'), [...cycle, name]);
    }
    if (start >= 0 || done.has(name)) return;
    for (const next of heirs.get(name) ?? []) visit(next, [...trail, name]);
    done.add(name);
  };
  for (const name of heirs.keys()) visit(name, []);
  return [...cycles.values()];
}
