import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { closestName } from '../../lib/closest-name.ts';
import { escapePointer, pointerTo } from '../../lib/json-pointer.ts';
import { readYaml } from '../../lib/read-yaml.ts';
import { meantKey, schemaMessage, withoutMisspelled } from '../../lib/schema-message.ts';
import { nameKeyFor, type NameRule } from '../model/caller-name.ts';
import { type Fault, StartFault, syntaxFaults } from '../model/fault.ts';

/** A role: its own permissions and the roles that it inherits from. */
export interface Role {
  readonly inherits: readonly string[];
  readonly permissions: readonly string[];
}

/** An account in the roles file, which assigns roles, groups and flags to a verified name. */
export interface Account {
  readonly name: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  readonly flags: readonly string[];
  /** True for demo accounts. They exist only on the embedded upstream, because their passwords are public. */
  readonly demo: boolean;
  /** An argon2id hash in PHC format. Only the `file` verifier needs it. */
  readonly passwordHash: string | undefined;
}

/** The parsed and checked roles file. */
export interface RolesFile {
  /** The file name that appears in configuration errors. */
  readonly source: string;
  /** `delegate`, `deny` or the name of a role. If undefined, the verifier determines the default. */
  readonly unmapped: string | undefined;
  readonly roles: ReadonlyMap<string, Role>;
  readonly accounts: readonly Account[];
}

/** The role that callers without a credential have. */
export const ANONYMOUS_ROLE = 'anonymous';

/** The flag that grants all permissions, but no group memberships. */
export const SUPERUSER_FLAG = 'superuser';

/** Returns the names of the demo accounts, whose passwords are public. */
export function demoAccounts({ accounts }: RolesFile): string[] {
  return accounts.filter(({ demo }) => demo).map(({ name }) => name);
}

/** Returns the roles file without demo accounts, for use with a real upstream. */
export function withoutDemoAccounts(roles: RolesFile): RolesFile {
  return { ...roles, accounts: roles.accounts.filter(({ demo }) => !demo) };
}

/** Returns an error for each account whose name, under the rule, is the same as an earlier account's. */
export function nameFaults({ accounts, source }: Pick<RolesFile, 'accounts' | 'source'>, rule: NameRule): Fault[] {
  const nameKey = nameKeyFor(rule);
  const first = new Map<string, string>();
  return accounts.flatMap(({ name }) => {
    const same = first.get(nameKey(name));
    first.set(nameKey(name), same ?? name);
    if (same === undefined) return [];
    const message = `"${name}" and "${same}" are the same name with roles.names: ${rule}`;
    return [{ source, pointer: '/accounts', message, suggestion: 'remove one of the two accounts' }];
  });
}

/** How verified callers without an account are treated. */
export type UnmappedPolicy =
  { readonly kind: 'delegate' } | { readonly kind: 'deny' } | { readonly kind: 'role'; readonly role: string };

/**
 * Returns the configured policy. If there is none, returns the policy in the roles file or, as a last resort, `standard`,
 * which the verifier determines. Throws if the policy names an unknown role.
 */
export function unmappedPolicyOf(
  roles: RolesFile,
  configured: string | undefined,
  standard: 'delegate' | 'deny',
): UnmappedPolicy {
  const policy = configured ?? roles.unmapped ?? standard;
  if (policy === 'delegate' || policy === 'deny') return { kind: policy };
  if (roles.roles.has(policy)) return { kind: 'role', role: policy };
  const suggestion = closestName(policy, ['delegate', 'deny', ...roles.roles.keys()]);
  const inFile = configured === undefined;
  const source = inFile ? roles.source : 'configuration';
  const pointer = inFile ? '/unmapped' : '/roles/unmapped';
  const message = `"${policy}" is not delegate, deny or a role`;
  throw new StartFault([{ source, pointer, message, ...(suggestion === undefined ? {} : { suggestion }) }]);
}

/**
 * Parses and checks a roles file. `catalogue` contains the names in the contract. If there are any errors, throws a
 * `StartFault` with all of them.
 */
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

/** The names, from the contract and the configuration, that roles and accounts may use. */
interface Catalogue {
  readonly permissions: readonly string[];
  readonly groups: readonly string[];
  readonly flags: readonly string[];
}

/**
 * Returns the errors that the schema cannot detect in a roles file: unknown names, inheritance cycles and duplicate
 * accounts.
 */
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

/** Returns each inheritance cycle once, as a list that begins and ends with the same role. */
function inheritanceCycles(roles: Inheritance): string[][] {
  const parents = new Map(Object.entries(roles).map(([name, { inherits = [] }]) => [name, inherits]));
  const cycles = new Map<string, string[]>();
  const done = new Set<string>();
  const visit = (name: string, trail: readonly string[]) => {
    const start = trail.indexOf(name);
    if (start >= 0) {
      const cycle = trail.slice(start);
      cycles.set([...cycle].sort().join('\n'), [...cycle, name]);
    }
    if (start >= 0 || done.has(name)) return;
    for (const next of parents.get(name) ?? []) visit(next, [...trail, name]);
    done.add(name);
  };
  for (const name of parents.keys()) visit(name, []);
  return [...cycles.values()];
}

/** The contents of a roles file that matches the schema. */
interface RawRoles {
  readonly unmapped?: string;
  readonly groups?: readonly string[];
  readonly flags?: readonly string[];
  readonly roles: Readonly<
    Record<string, { readonly inherits?: readonly string[]; readonly permissions?: readonly string[] }>
  >;
  readonly accounts?: readonly {
    readonly name: string;
    readonly roles: readonly string[];
    readonly groups?: readonly string[];
    readonly flags?: readonly string[];
    readonly demo?: boolean;
    readonly passwordHash?: string;
  }[];
}

/** The data of a roles file, or all errors in its syntax and structure. */
type ParsedRoles =
  | { readonly raw: RawRoles; readonly faults: readonly [] }
  | { readonly raw: undefined; readonly faults: readonly Fault[] };

/**
 * Parses YAML and validates it against the schema. Error messages never quote the text, because it contains password
 * hashes.
 */
function parseRolesText(text: string, source: string): ParsedRoles {
  if (lastValid?.text === text) return { raw: lastValid.raw, faults: [] };
  const reading = readYaml(text);
  if (reading.errors !== undefined) return { raw: undefined, faults: syntaxFaults(source, reading.errors) };
  const { value } = reading;
  const validate = (validateRoles ??= compileRolesSchema());
  if (validate(value)) {
    lastValid = { text, raw: value };
    return { raw: value, faults: [] };
  }
  return { raw: undefined, faults: withoutMisspelled(validate.errors ?? []).map((error) => toFault(error, source)) };
}

/** The latest text without errors. Most reloads find the same one, and reading it is a third of their work. */
let lastValid: { readonly text: string; readonly raw: RawRoles } | undefined;

/** The validator for the data in a roles file. It is compiled only once and reused on every reload. */
let validateRoles: ValidateFunction<RawRoles> | undefined;

/**
 * Compiles the schema without validating it, because compiling the meta-schema takes too long. A test validates the
 * schema instead.
 */
function compileRolesSchema(): ValidateFunction<RawRoles> {
  const constant = { validateSchema: false, meta: false, code: { optimize: false } };
  return new Ajv2020({ allErrors: true, ownProperties: true, verbose: true, ...constant }).compile(rolesFileSchema);
}

function toFault(error: ErrorObject, source: string): Fault {
  const { instancePath, params, parentSchema } = error;
  const unknown: unknown = params['additionalProperty'];
  if (typeof unknown !== 'string') return { source, pointer: instancePath, message: schemaMessage(error) };
  const known = Object.keys((parentSchema?.['properties'] ?? {}) as object);
  const suggestion = meantKey(error) ?? `one of ${known.join(', ')}`;
  return { source, pointer: `${instancePath}/${escapePointer(unknown)}`, message: 'unknown key', suggestion };
}

const names = (description: string) => ({
  description,
  type: 'array',
  uniqueItems: true,
  items: { type: 'string', minLength: 1, maxLength: 200 },
});

/** The JSON Schema of the roles file. `config/roles.schema.json` is a copy for editors. */
export const rolesFileSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Roles of Portico',
  description: 'Roles, and the accounts that have them.',
  type: 'object',
  additionalProperties: false,
  required: ['roles'],
  properties: {
    unmapped: {
      description:
        'What a verified caller without an account may do: delegate leaves the decision to the upstream, deny refuses everything, and the name of a role grants that role. The default is delegate with the verifier upstream and deny with the verifier file.',
      type: 'string',
      minLength: 1,
    },
    groups: names('Every group that an account may be a member of.'),
    flags: names('Every flag that an account may have; superuser grants all permissions but no group membership.'),
    roles: {
      description: 'Roles by name. Callers without a credential have the role anonymous.',
      type: 'object',
      propertyNames: { minLength: 1, maxLength: 100, not: { enum: ['delegate', 'deny'] } },
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: {
          description: { description: 'A note for readers of the file. Portico ignores it.', type: 'string' },
          inherits: names('Roles whose permissions this role inherits.'),
          permissions: names('Permissions, by their names in the role editor.'),
        },
      },
    },
    accounts: {
      description: 'The accounts, with their roles, groups and flags.',
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name', 'roles'],
        properties: {
          name: { description: 'The exact user name in the credential.', type: 'string', minLength: 1, maxLength: 256 },
          roles: names('Roles of the account.'),
          groups: names('Groups that the account is a member of.'),
          flags: names('Flags of the account.'),
          demo: {
            description: 'Marks a public account, which is ignored with a real upstream.',
            type: 'boolean',
            default: false,
          },
          passwordHash: {
            description: 'An argon2id hash from portico hash-password. Required only with the verifier file.',
            type: 'string',
            pattern: '^\\$argon2id\\$v=19\\$m=[0-9]+,t=[0-9]+,p=[0-9]+\\$[A-Za-z0-9+/]+\\$[A-Za-z0-9+/]+$',
          },
        },
      },
    },
  },
} as const;
