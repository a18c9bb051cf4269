import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { hashPassword } from '../../src/engine/identity/password-hash.ts';
import type { SeededRandom } from '../../src/lib/seeded-random.ts';

/** The callers who may share a stored page. */
type Audience = 'caller' | 'permissions' | 'public';

/** The accounts of one role. All of them have the same permissions. */
interface Role {
  readonly name: string;
  readonly accounts: number;
  readonly permissions: readonly string[];
}

/** An account used by the run. Its password is the same as its name. */
export interface Account {
  readonly name: string;
  readonly role: string;
  readonly permissions: ReadonlySet<string>;
}

/** One page of a list that clients read. */
export interface Page {
  readonly index: number;
  readonly operation: string;
  readonly target: string;
  /** The page's tags. A write that purges any of them changes the page. */
  readonly tags: readonly string[];
  readonly audience: Audience;
  readonly permissions: readonly string[];
  /** The body. It contains `MARKER`, which the upstream replaces. */
  readonly body: string;
}

/** One kind of write. */
export interface WriteKind {
  readonly operation: string;
  readonly method: 'PUT' | 'POST';
  /** The path, which contains `{nodeId}`. */
  readonly path: string;
  readonly tags: readonly string[];
  readonly permissions: readonly string[];
  readonly status: number;
  readonly requestBody: string;
  /** The response body. It contains the placeholders `MARKER_NUMBER` and `MARKER_NODE`, which the upstream replaces. */
  readonly body: string;
}

/** Everything that a run requests. Both the tool and the upstream derive it from the contract. */
export interface Workload {
  readonly pages: readonly Page[];
  readonly writes: readonly WriteKind[];
  readonly accounts: readonly Account[];
  /**
   * Chooses a page: first a list operation, according to the operations' shares, and then one of that operation's
   * pages, according to a Zipf distribution.
   */
  choosePage(random: SeededRandom): Page;
  /** Chooses a write and the node to change. */
  chooseWrite(random: SeededRandom): { readonly kind: WriteKind; readonly node: number };
}

/** A placeholder in a page. The upstream replaces it with the page's version, audience and index. */
export const MARKER = 'fleet-marker';
/** A placeholder in the response to a write. The upstream replaces it with the write's number. */
export const MARKER_NUMBER = 987_654_321;
/** A placeholder in the response to a write. The upstream replaces it with the node in the request. */
export const MARKER_NODE = 123_456_789;

const READ_ALL = [
  'View the questions list',
  'View the question page',
  'View answers in the question page',
  'View users list',
  "View user's profile",
];
const MEMBER = [...READ_ALL, 'View list idea', 'View list kbentry', 'Mark as favorite'];

const ROLES: readonly Role[] = [
  { name: 'steward', accounts: 4, permissions: [...MEMBER, 'Edit users and groups', 'Mark as community wiki'] },
  { name: 'member', accounts: 8, permissions: MEMBER },
  { name: 'reader', accounts: 3, permissions: READ_ALL },
  { name: 'stranger', accounts: 1, permissions: [] },
];

/** The account whose requests measure how fast a purge arrives. */
export const PROBE_ACCOUNT = 'probe';

const NODES = Array.from({ length: 40 }, (_, index) => 1001 + index);

/** A list operation: its share of the reads, who shares its pages, and which pages are requested. */
interface ListPlan {
  readonly operation: string;
  readonly share: number;
  readonly audience: Audience;
  /** The values of the path parameter. For a list without a path parameter, the page numbers. */
  readonly values: readonly number[];
  /** The text that the marker replaces in the example. */
  readonly markedText: string;
}

const range = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);

const LISTS: readonly ListPlan[] = [
  {
    operation: 'listQuestions',
    share: 0.14,
    audience: 'caller',
    values: range(2, 12),
    markedText: 'Why does the build fail?',
  },
  { operation: 'listIdeas', share: 0.1, audience: 'permissions', values: range(2, 20), markedText: 'A dark theme' },
  { operation: 'listArticles', share: 0.1, audience: 'permissions', values: range(2, 20), markedText: 'How to deploy' },
  { operation: 'listGroupUsers', share: 0.08, audience: 'permissions', values: range(1, 10), markedText: 'P. Zed' },
  {
    operation: 'listTopicFollowers',
    share: 0.16,
    audience: 'permissions',
    values: range(1, 30),
    markedText: 'P. Zed',
  },
  { operation: 'listNodeFollowers', share: 0.16, audience: 'permissions', values: NODES, markedText: 'P. Zed' },
  { operation: 'listExpertise', share: 0.2, audience: 'public', values: range(1, 60), markedText: 'build' },
  {
    operation: 'listAnswerComments',
    share: 0.06,
    audience: 'caller',
    values: range(2001, 8),
    markedText: 'Could you add the log?',
  },
];

const WRITES: readonly {
  readonly operation: string;
  readonly share: number;
  readonly requestBody?: string;
  readonly numberAt: string;
}[] = [
  { operation: 'unmarkFavorite', share: 0.6, numberAt: 'favoriteAction' },
  {
    operation: 'createComment',
    share: 0.3,
    requestBody: JSON.stringify({ body: 'A comment of the run.' }),
    numberAt: '',
  },
  { operation: 'cancelWiki', share: 0.1, numberAt: 'wikifyAction' },
];

/** The parts of an OpenAPI operation that the workload reads. */
interface ContractOperation {
  readonly operationId: string;
  readonly 'x-requires'?: Requirement;
  readonly 'x-cache'?: { readonly tags: readonly string[] };
  readonly 'x-purges'?: readonly string[];
  readonly responses: Readonly<Record<string, Response | Reference>>;
}
interface Response {
  readonly content?: Readonly<Record<string, { readonly examples?: Readonly<Record<string, Example | Reference>> }>>;
}
interface Example {
  readonly value: unknown;
}
interface Reference {
  readonly $ref: string;
}
interface Requirement {
  readonly permission?: string;
  readonly all?: readonly Requirement[];
  readonly any?: readonly Requirement[];
}

/** Creates the workload from the contract, so that its tags are those that the gateways purge. */
export function createWorkload(): Workload {
  const file = join(import.meta.dirname, '../../schemas/openapi.yaml');
  const document = parse(readFileSync(file, 'utf8')) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, ContractOperation>>>>;
    readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  const resolved = <Part extends object>(part: Part | Reference): Part => {
    if (!('$ref' in part)) return part;
    const [kind = '', name = ''] = part.$ref.split('/').slice(-2);
    return document.components[kind]?.[name] as Part;
  };
  const operations = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [operation.operationId, { path, method, operation }]),
    ),
  );
  const operationOf = (id: string) => {
    const one = operations.get(id);
    if (one === undefined) throw new Error(`the contract has no operation ${id}`);
    for (const [status, found] of Object.entries(one.operation.responses)) {
      const [example] = Object.values(resolved(found).content?.['application/json']?.examples ?? {});
      if (example !== undefined) return { ...one, status: Number(status), example: resolved(example).value };
    }
    throw new Error(`the contract has no example of ${id}`);
  };

  const pages: Page[] = [];
  const lists = LISTS.map(({ operation: id, share, audience, values, markedText }) => {
    const { path, operation, example } = operationOf(id);
    const parameter = /\{(\w+)\}/.exec(path)?.[1];
    const own = values.map((value, rank) => {
      const body = pageBody(example, markedText, parameter === undefined ? value : 1);
      const page: Page = {
        index: pages.length + rank,
        operation: id,
        target: parameter === undefined ? `${path}?page=${value}` : path.replace(`{${parameter}}`, String(value)),
        tags: (operation['x-cache']?.tags ?? []).map((tag) => tag.replace(/\{\w+\}/, String(value))),
        audience,
        permissions: permissionsOf(operation['x-requires']),
        body,
      };
      return page;
    });
    pages.push(...own);
    return { share, pages: own, rank: zipf(own.length) };
  });
  const writes = WRITES.map(({ operation: id, share, requestBody = '', numberAt }) => {
    const { path, method, operation, status, example } = operationOf(id);
    const at = numberAt === '' ? '^\\{' : `"${numberAt}":\\{`;
    const kind: WriteKind = {
      operation: id,
      method: method.toUpperCase() as WriteKind['method'],
      path,
      tags: operation['x-purges'] ?? [],
      permissions: permissionsOf(operation['x-requires']),
      status,
      requestBody,
      body: JSON.stringify(example)
        .replace(new RegExp(`(${at})"id":\\d+`), `$1"id":${MARKER_NUMBER}`)
        .replace(/("node":\{)"id":\d+/, `$1"id":${MARKER_NODE}`),
    };
    return { share, kind };
  });
  return {
    pages,
    writes: writes.map(({ kind }) => kind),
    accounts: ROLES.flatMap(accountsOf),
    choosePage(random) {
      const list = byShare(lists, random.fraction());
      return list.pages[list.rank(random.fraction())] as Page;
    },
    chooseWrite: (random) => ({ kind: byShare(writes, random.fraction()).kind, node: random.pick(NODES) }),
  };
}

/** Returns the tags that a write to a node purges. */
export function purgedTags({ tags }: Pick<WriteKind, 'tags'>, node: number): string[] {
  return tags.map((tag) => tag.replace(/\{\w+\}/, String(node)));
}

/** Returns whether the account may make a request that needs these permissions. */
export function mayRequest(account: Account, { permissions }: { readonly permissions: readonly string[] }): boolean {
  return permissions.every((one) => account.permissions.has(one));
}

/** Returns which copy of a page the account receives: its own copy, its role's copy, or the shared copy. */
export function audienceOf({ audience }: Pick<Page, 'audience'>, { name, role }: Account): string {
  return audience === 'caller' ? name : audience === 'permissions' ? role : 'all';
}

/** Returns the account with this name. The name contains the role. */
export function accountNamed({ accounts }: Workload, name: string): Account {
  if (name === PROBE_ACCOUNT) return { name, role: PROBE_ACCOUNT, permissions: new Set(MEMBER) };
  const account = accounts.find((one) => one.name === name);
  if (account === undefined) throw new Error(`there is no account ${name}`);
  return account;
}

/** Returns the roles file for a run. The hashes have the lowest cost, because the run does not measure logins. */
export async function fleetRoles({ accounts }: Workload): Promise<string> {
  const cheap = { memory: 8, passes: 1, parallelism: 1 };
  const accountOf = async (name: string, role: string) => ({
    name,
    roles: [role],
    passwordHash: await hashPassword(name, cheap),
  });
  return JSON.stringify({
    roles: {
      anonymous: {},
      ...Object.fromEntries(ROLES.map(({ name, permissions }) => [name, { permissions }])),
      [PROBE_ACCOUNT]: { permissions: MEMBER },
    },
    accounts: await Promise.all([
      ...accounts.map(({ name, role }) => accountOf(name, role)),
      accountOf(PROBE_ACCOUNT, PROBE_ACCOUNT),
    ]),
  });
}

/** Returns the operations' audiences in the form that the gateways' configuration needs. */
export function fleetOperations(): Record<string, object> {
  return Object.fromEntries(
    LISTS.map(({ operation, audience }) => [
      operation,
      { cache: audience === 'caller' ? { audience } : { audience, assumeImpersonal: true } },
    ]),
  );
}

function accountsOf({ name, accounts, permissions }: Role): Account[] {
  const granted = new Set(permissions);
  return Array.from({ length: accounts }, (_, index) => ({
    name: `${name}${index}`,
    role: name,
    permissions: granted,
  }));
}

function permissionsOf(requirement: Requirement | undefined): string[] {
  if (requirement === undefined) return [];
  const { permission, all = [], any = [] } = requirement;
  // If a requirement has alternatives, accounts are granted only the first one, so that callers without it are refused.
  return [...(permission === undefined ? [] : [permission]), ...[...all, ...any.slice(0, 1)].flatMap(permissionsOf)];
}

/** Returns the example as one page of many, with the marker in its first item. */
function pageBody(example: unknown, markedText: string, page: number): string {
  const list = { ...(example as Record<string, unknown>), page, pageCount: 40, totalCount: 600 };
  const text = JSON.stringify(list);
  const marked = text.replace(JSON.stringify(markedText), JSON.stringify(MARKER));
  if (marked === text) throw new Error(`the example does not contain ${markedText}`);
  return marked;
}

/**
 * Returns a function that maps a number in [0, 1) to a rank. Ranks begin at 0, and rank n is requested 1 / (n + 1) as
 * often as rank 0.
 */
function zipf(count: number): (fraction: number) => number {
  const weights = Array.from({ length: count }, (_, rank) => 1 / (rank + 1));
  const sum = weights.reduce((total, one) => total + one, 0);
  let reached = 0;
  const bounds = weights.map((one) => (reached += one / sum));
  return (fraction) => {
    const rank = bounds.findIndex((bound) => fraction < bound);
    return rank < 0 ? count - 1 : rank;
  };
}

/** Returns one of the items. The probability of each item equals its share. `fraction` is a number in [0, 1). */
function byShare<Item extends { readonly share: number }>(items: readonly Item[], fraction: number): Item {
  let left = fraction * items.reduce((sum, { share }) => sum + share, 0);
  const chosen = items.find(({ share }) => (left -= share) < 0) ?? items.at(-1);
  if (chosen === undefined) throw new RangeError('nothing to choose from');
  return chosen;
}
