import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { basic } from './call.ts';
import { exampleOf } from './contract-examples.ts';
import type { FakeResponse } from './fake-upstream.ts';
import type { OperationCase } from './operations.ts';

/** Values that only their owner should see. Their forms are too distinctive to occur by chance. */
export interface Secrets {
  /** A person's name that cannot be recognized as one. */
  readonly name: string;
  readonly email: string;
  readonly token: string;
  readonly password: string;
  readonly ip: string;
}

const letters = (size: number) =>
  fc.string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz'.split('')), minLength: size, maxLength: size });
const hex = (size: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'.split('')), minLength: size, maxLength: size });
const base62 = (size: number) =>
  fc
    .string({
      unit: fc.constantFrom(...'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'.split('')),
      minLength: size,
      maxLength: size,
    })
    .map((text) => `a7B${text}x4`);
const byte = fc.integer({ min: 100, max: 249 });

/** Secrets that differ from one run to the next. */
export const anySecrets: fc.Arbitrary<Secrets> = fc.record({
  name: letters(9).map((text) => `zq${text}`),
  email: fc.tuple(letters(8), letters(8)).map(([user, host]) => `zq${user}@${host}.example`),
  token: fc.oneof(
    hex(40),
    hex(32).map((text) => text.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')),
    base62(24),
    base62(30).map((text) => `sk_live_${text}`),
    base62(40).map((text) => `eyJhbGciOiJIUzI1NiJ9.${text}.${text}`),
  ),
  password: fc.tuple(letters(6), base62(6)).map(([first, second]) => `${first}!${second}`),
  ip: fc.tuple(byte, byte, byte).map((parts) => `203.${parts.join('.')}`),
});

/** Returns the strings to search for: each secret unchanged and in common encodings. */
function formsOf(secrets: Secrets): string[] {
  const texts = [
    ...(Object.values(secrets) as string[]),
    `${secrets.email}:${secrets.password}`,
    `${secrets.name}:${secrets.password}`,
  ];
  return texts.flatMap((text) => [
    text,
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
    Buffer.from(text).toString('base64').replace(/=+$/, ''),
  ]);
}

/** Returns the secrets found in strings or file contents, ignoring case. */
export function findSecrets(searched: Searched, ...of: readonly Secrets[]): string[] {
  return findTexts(searched, of.flatMap(formsOf));
}

/** Strings or file contents. */
type Searched = string | Buffer | readonly (string | Buffer)[];

/**
 * Returns the wanted strings that occur in the searched strings or file contents, ignoring case. Each wanted string
 * must have at least eight characters.
 */
export function findTexts(searched: Searched, wanted: readonly string[]): string[] {
  const texts = (Array.isArray(searched) ? searched : [searched]) as readonly (string | Buffer)[];
  const text = texts
    .map((one) => (typeof one === 'string' ? one : one.toString('latin1')))
    .join('\n')
    .toLowerCase();
  // Searching millions of characters for thousands of strings one by one would be slow. Instead, a single pass compares
  // the hashes of four characters at every fifth position, because one of these positions is always among the first
  // five of the eight characters with which a wanted string begins.
  const begins = Map.groupBy(new Set(wanted), (form) => form.toLowerCase().slice(0, HEAD));
  const mayContain = new Uint8Array(65_536);
  for (const head of begins.keys()) for (let at = 0; at < STRIDE; at++) mayContain[marked(head, at)] = 1;
  const found = new Set<string>();
  for (let at = 0; at < text.length; at += STRIDE) {
    if (mayContain[marked(text, at)] === 0) continue;
    for (let from = Math.max(0, at - STRIDE + 1); from <= at; from++)
      for (const form of begins.get(text.slice(from, from + HEAD)) ?? [])
        if (text.startsWith(form.toLowerCase(), from)) found.add(form);
  }
  return [...found];
}

const HEAD = 8;
const PART = 4;
const STRIDE = HEAD - PART + 1;

/** Returns a 16-bit hash of the four characters that begin at a position. */
function marked(text: string, at: number): number {
  let mark = 0;
  for (let step = 0; step < PART; step++) mark = (mark * 31 + text.charCodeAt(at + step)) & 65_535;
  return mark;
}

/** Returns headers that any client may send, each containing a secret. */
export function secretHeaders({ name, email, token, password }: Secrets): Record<string, string> {
  return {
    Cookie: `session=${token}; user=${encodeURIComponent(email)}`,
    'X-Auth-Token': token,
    'X-Api-Key': token,
    'Proxy-Authorization': basic(name, password),
    'User-Agent': `agent of ${email}`,
    Referer: `http://intranet.example/?token=${token}`,
    From: email,
    Forwarded: `for=${name}`,
    tracestate: `vendor=${token.replaceAll(/[^\w-]/g, '')}`,
    'If-None-Match': `"${token}"`,
    'Portico-Force': name,
    'X-Odd': email,
  };
}

/** Returns queries with secrets as the names and values of known and unknown parameters. */
export function secretQueries({ name, email, token }: Secrets): string[] {
  const [mail, key] = [encodeURIComponent(email), encodeURIComponent(token)];
  return [
    `q=${mail}&topics=${name}`,
    `page=${key}&pageSize=${name}&spaceId=${mail}`,
    `colour=${name}&owner=${mail}&key=${key}`,
    `${mail}=1`,
    `${key}=1&${key}=2`,
    `sort=${key}&includeOnly=${key}`,
    `q=%ff${key}`,
    `${mail}=%ff`,
  ];
}

/** Returns documented and undocumented targets with secrets as path segments. */
export function secretTargets({ name, email, token }: Secrets): string[] {
  return [name, encodeURIComponent(email), encodeURIComponent(token)].flatMap((segment) => [
    `/services/v2/comment/${segment}.json`,
    `/services/v2/jobs/gdpr/${segment}.json`,
    `/services/v2/nothing/${segment}/at-all.json`,
    `/elsewhere/${segment}?key=${segment}`,
  ]);
}

/**
 * Returns request bodies that contain secrets: uploads, comments, bodies that violate their schema, and bodies that are
 * not JSON.
 */
export function secretBodies({ name, email, token, password }: Secrets): unknown[] {
  return [
    { content: `userId,username\n,${email}\n,${name}\n` },
    { content: `username\n${email},${name}\n` },
    { content: `${token},email\n"${name}\n` },
    { body: `${name} wrote ${email}`, visibility: 'recipients', recipients: [{ id: 7, name, type: 'group' }] },
    { body: { [token]: email }, visibility: [name], recipients: email },
    { content: email, body: name, [email]: password, [token]: token, password },
    `{"content": "${email}`,
    `${name} ${token}`,
    [email],
  ];
}

/** Returns upstream responses that contain secrets: in every field, in errors of each form, in pages and in headers. */
export function secretResponses(operation: OperationCase, secrets: Secrets): FakeResponse[] {
  const { name, email, token } = secrets;
  const example: unknown = exampleOf(operation.id);
  const status = operation.success;
  return [
    { status, json: planted(example, secrets, 'personal') },
    { status, json: planted(example, secrets, 'unknown') },
    { status, json: planted(example, secrets, 'everything') },
    { status, headers: { 'Set-Cookie': `id=${token}`, 'X-Debug': email, Vary: name }, json: example },
    { status, headers: { 'Content-Type': `text/${name}` }, body: email },
    { status: 400, json: { error: `${email} is not known` } },
    { status: 404, json: { errors: { message: `no ${name} with ${token}` } } },
    { status: 401, headers: { 'WWW-Authenticate': `Basic realm="${name}"` }, json: { error: token } },
    { status: 403, json: { errors: { message: `You don't have permission, ${name}` } } },
    { status: 500, json: { error: `at ${token}`, stack: [email] } },
    { status: 418, json: { [email]: name } },
    { status: 500, headers: { 'Content-Type': 'text/html' }, body: `<h1>${email}</h1><p>${token}` },
    { status: 302, headers: { Location: `http://${name}.example/login?token=${token}` } },
    { status, json: { error: `${name}: ${token}` } },
    { status, headers: { 'Content-Type': 'application/json' }, body: `{"a": "${email}` },
  ];
}

const PERSONAL = personalNames();

/** Returns the names of the fields that the contract marks with `x-pii`. */
function personalNames(): ReadonlySet<string> {
  const document: unknown = parse(readFileSync(new URL('../../schemas/openapi.yaml', import.meta.url), 'utf8'));
  const names = new Set<string>();
  const visit = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === 'object' && inner !== null && 'x-pii' in inner) names.add(key);
      visit(inner);
    }
  };
  visit(document);
  return names;
}

/**
 * Returns a response that contains secrets. A personal field can contain any of them, even a plain name. All other
 * places, including the names of undocumented fields, contain only secrets with a recognizable form, because the ledger
 * shows plain words in field names on purpose.
 */
function planted(value: unknown, secrets: Secrets, where: 'personal' | 'unknown' | 'everything'): unknown {
  const { name, email, token, ip } = secrets;
  const visit = (one: unknown, key: string): unknown => {
    if (Array.isArray(one)) return one.map((item) => visit(item, key));
    if (typeof one === 'object' && one !== null) {
      const members = Object.entries(one).map(([member, inner]) => [member, visit(inner, member)] as const);
      const strange =
        where === 'personal'
          ? {}
          : { [email]: token, [token]: email, contact: email, notes: { key: token, of: [email] } };
      return { ...Object.fromEntries(members), ...strange };
    }
    if (PERSONAL.has(key)) return key === 'ip' ? ip : where === 'everything' ? { deep: [name, email] } : name;
    return where === 'everything' ? (key.length % 2 === 0 ? email : token) : one;
  };
  return visit(value, '');
}
