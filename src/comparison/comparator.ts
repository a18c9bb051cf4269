import type { Contract } from '../engine/contract/load-contract.ts';
import type { ParameterValues } from '../engine/contract/values.ts';
import { type HeaderPairs, headerValue, mediaTypeOf } from '../engine/model/header-pairs.ts';
import type { Operation } from '../engine/model/operation.ts';
import type { Violation } from '../engine/model/violation.ts';
import { type FailureContext, normalizeFailure } from '../engine/upstream/failures/normalize-failure.ts';
import { compilePlaceSchemas } from '../learner/place-schema.ts';
import { anyIndex } from '../lib/json-pointer.ts';
import {
  type ComparedObjects,
  compareValues,
  countedIn,
  type DifferenceKind,
  type EdgeItem,
  type Equivalence,
  factsOf,
  ownId,
  type Side,
  type ValueComparison,
} from './compare-values.ts';
import { type DescribedMember, describeMembers, describeValue, firstDifference } from './describe-value.ts';
import { plainValue, readJson, type ReadJson } from './exact-values.ts';
import type { Identities, SavedIdentities } from './identities.ts';
import { createListPages, type SavedLists } from './list-pages.ts';
import type { Noise, NoiseRule } from './noise.ts';
import {
  COMPARED_HEADERS,
  createScopePlaces,
  type Place,
  placeAt,
  type PlaceRef,
  placesIn,
  type Scope,
  type ScopePlaces,
} from './place.ts';

/** A complete response of one server. */
export interface ServerResponse {
  readonly status: number;
  /** The value of `Content-Type`. Undefined if there is none. */
  readonly mediaType: string | undefined;
  /** The whole body, without a content coding. */
  readonly body: Buffer;
  /** Those of `COMPARED_HEADERS` that it has. Undefined if they are not known, and then they are not compared. */
  readonly headers?: ReadonlyMap<string, string>;
}

/** Returns the headers of a response that are compared. */
export const comparedHeaders = (headers: HeaderPairs): ReadonlyMap<string, string> =>
  new Map(
    COMPARED_HEADERS.flatMap((name) => {
      const value = headerValue(headers, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** The responses of both servers to the same request of the same caller. */
export interface ExchangePair {
  /** Undefined if the path is not in the contract. */
  readonly operation: Operation | undefined;
  readonly parameters: ParameterValues | undefined;
  /** What was requested on the old server. Only its structure is ever shown. */
  readonly target: string;
  /** The name of the caller. */
  readonly role: string;
  readonly old: ServerResponse;
  readonly new: ServerResponse;
  /**
   * The ids of the items that other callers received from the old server for the same request, and whether one of them
   * received anything. What this caller sees only on the new server may be meant for them alone.
   */
  readonly others?: { readonly ids: ReadonlySet<string>; readonly isAllowed: boolean };
}

/** One way in which two responses differ, at one place. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly place: Place;
  /** Descriptions of the two values, which do not reveal them. */
  readonly old: string;
  readonly new: string;
  /** Where two texts begin to differ. */
  readonly hint?: string;
  /** The members of the objects in which the difference was found. Undefined if it is not in an object. */
  readonly beside?: readonly DescribedMember[];
  /** Why it does not count. Undefined if it counts. */
  readonly mutedBy: 'contract' | NoiseRule | undefined;
  /** True if the old response violates the contract here and the new one does not. */
  readonly isRepair: boolean;
}

/** Whether a response conforms to the contract. */
export type Verdict = 'valid' | 'invalid' | 'unknown';

/** The result of comparing one pair of responses. It counts only once it is accepted. */
export interface PairResult {
  readonly pair: ExchangePair;
  readonly outcome: 'equal' | 'muted' | 'different';
  readonly differences: readonly Difference[];
  readonly equivalences: ReadonlyMap<Equivalence, number>;
  /** True if the old server sent what was requested: a 2xx and, for an operation of the contract, JSON. */
  readonly isServed: boolean;
  readonly verdicts: { readonly old: Verdict; readonly new: Verdict };
  /** True if the totals of a list differ, which only the whole list can explain. */
  readonly hasOtherTotal: boolean;
  /** Makes the result count, or only some of its differences. */
  accept(counted?: readonly Difference[]): void;
}

/** What is kept of an exchange until its list is complete. */
export interface LateExchange {
  readonly operation: string | undefined;
  readonly target: string;
  readonly outcome: PairResult['outcome'];
  readonly others: ExchangePair['others'];
}

/** A difference that only became visible later, and the exchange to which it belongs. */
export interface LateResult {
  readonly difference: Difference;
  readonly exchange: LateExchange | undefined;
}

/** What a comparator knows, as plain data. Nothing about responses can be read from it but ids. */
export interface SavedComparison {
  /** What was counted at each place. The other members refer to places and exchanges by their numbers. */
  readonly places: readonly (PlaceRef & {
    readonly compared: number;
    readonly different: number;
    readonly muted: number;
  })[];
  readonly lists: SavedLists;
  readonly ids: SavedIdentities;
  readonly exchanges: readonly {
    readonly operation: string | null;
    readonly target: string;
    readonly outcome: PairResult['outcome'];
    readonly others: { readonly ids: readonly string[]; readonly isAllowed: boolean } | null;
  }[];
}

/** Compares the responses of two servers. */
export interface Comparator {
  compare(pair: ExchangePair): PairResult;
  /** Compares step by step, so that a large response holds up nothing. `turn` is awaited after each step. */
  compareInTurns(pair: ExchangePair, turn: () => Promise<void>): Promise<PairResult>;
  /** Returns references that later responses have shown to be wrong. */
  refuted(): readonly LateResult[];
  /** Returns what only whole lists show, and references that are wrong. Called once, at the end. */
  settle(): readonly LateResult[];
  /** The number of items and totals that cannot be judged, because not all pages of their lists were compared. */
  undecided(): number;
  /** Returns what is known, from which `restore` continues. */
  save(): SavedComparison;
  restore(saved: SavedComparison): void;
  /** Everything that was compared, with counts. */
  places(): Iterable<Place>;
  /** Returns the ids of the items in a response of the old server. */
  itemIds(operation: Operation | undefined, response: ServerResponse): ReadonlySet<string>;
  /** Returns whether a response gives the caller what was requested. */
  isAllowed(operation: Operation | undefined, response: ServerResponse): boolean;
}

/** What a comparator is compiled from. */
export interface ComparatorParts {
  readonly contract: Contract;
  /** How the errors of the API are read; see `normalizeFailure`. */
  readonly failures: Pick<FailureContext, 'isPermissionMessage' | 'jsonLimits'>;
  readonly ids: Identities;
  readonly noise: Noise;
  readonly old: Side;
  readonly new: Side;
  /**
   * True if nothing is kept of an exchange, because there is no end at which whole lists could be judged. Totals that
   * differ are then differences at once, and items at the edges of pages are never judged.
   */
  readonly eachAlone?: boolean;
}

/** The maximum number of scopes (operation, status and caller) that are counted apart. */
const MAX_SCOPES = 5_000;

/** Compiles a comparator from a contract. */
export function compileComparator(parts: ComparatorParts): Comparator {
  const { contract, ids, noise } = parts;
  const schemaOf = compilePlaceSchemas(contract.document);
  const scopes = new Map<string, ScopePlaces>();
  const lists = createListPages<LateExchange>(ids);
  const failureOf = createFailureReader(parts);

  const operationsById = new Map(contract.operations.map((one) => [one.id, one]));
  const scopeOf = ({ operation: id, status, role, isOpen }: Scope): ScopePlaces => {
    const isFull = scopes.size >= MAX_SCOPES;
    const operation = id === undefined || isFull ? undefined : operationsById.get(id);
    const scope = { operation: operation?.id, status, role: isFull ? 'other' : role, isOpen };
    const key = `${scope.operation ?? ''} ${status} ${isOpen} ${scope.role}`;
    let places = scopes.get(key);
    if (places === undefined) {
      const schema = operation === undefined ? undefined : schemaOf(operation.id, status, isOpen);
      places = createScopePlaces(scope, schema);
      scopes.set(key, places);
    }
    return places;
  };
  const placesOf = ({ operation, parameters, role }: ExchangePair, status: number) =>
    scopeOf({ operation: operation?.id, status, role, isOpen: parameters?.details === true });

  const mutedBy = (kind: DifferenceKind, place: Place, value: unknown): Difference['mutedBy'] => {
    // Nothing but a value is ever noise, and neither a truth value nor a word of the contract changes by itself.
    if (kind !== 'value' || typeof value === 'boolean' || place.marks.words.size > 0) return undefined;
    return place.marks.isVolatile ? 'contract' : noise.ruleFor(place.scope.operation, place.at);
  };

  /** Hundreds of differences can be in the same two objects, which can have very many members. */
  let latest: { readonly inside: ComparedObjects; readonly members: readonly DescribedMember[] } | undefined;
  const membersOf = (inside: ComparedObjects) => {
    if (latest?.inside !== inside) latest = { inside, members: describeMembers(inside) };
    return latest.members;
  };
  const differenceOf = (
    kind: DifferenceKind,
    place: Place,
    [old, next]: readonly [unknown, unknown],
    isRepair: boolean,
    inside?: ComparedObjects,
  ): Difference => {
    const hint = place.marks.isPersonal ? undefined : firstDifference(old, next);
    const muted = mutedBy(kind, place, old);
    return {
      kind,
      place,
      old: describeValue(old, place.marks),
      new: describeValue(next, place.marks),
      ...(hint !== undefined && { hint }),
      ...(inside !== undefined && muted === undefined && { beside: membersOf(inside) }),
      mutedBy: muted,
      isRepair,
    };
  };

  /** Compares, and yields after each step. With `isSliced`, each item of a list is a step, after everything else. */
  function* steps(pair: ExchangePair, isSliced: boolean): Generator<undefined, PairResult> {
    const { operation, parameters, old, new: next } = pair;
    const places = placesOf(pair, old.status);
    const ownItems = itemsPlace(operation, places.body);
    const readOld = readJson(old.body);
    yield;
    const read = { old: readOld, new: readJson(next.body) };
    yield;
    const found = new Map<string, Difference>();
    const equivalences = new Map<Equivalence, number>();
    const compared = new Map<Place, number>();
    const edges: EdgeItem[] = [];
    let totals: { place: Place; old: number; new: number } | undefined;
    let net = 0;
    const violationsOld = violationsOf(pair, old, read.old);
    yield;
    const violations = { old: violationsOld, new: violationsOf(pair, next, read.new) };
    yield;
    const later: (() => void)[] = [];
    const differ: ValueComparison['differ'] = (kind, at, a, b) => {
      // Fields that the request leaves out are one fault: the new server ignores that it does.
      const owner = ownItems ?? places.body;
      const isLeftOut = kind === 'extra' && parameters?.projection !== undefined && at.at.startsWith(`${owner.at}/`);
      const place = isLeftOut ? owner : at;
      const isItem = kind === 'missing-item' || kind === 'extra-item' || kind === 'other-item';
      if (isItem && place === ownItems) net += Number(a !== undefined) - Number(b !== undefined);
      // An item that other callers receive from the old server, and this one only from the new server.
      const isLeak = (kind === 'extra-item' || kind === 'other-item') && isForOthers(pair, ids, place, b);
      const named = isLeak ? 'leak' : kind;
      const key = `${named} ${place.at}`;
      if (found.has(key)) return;
      const isRepair = violations.old.has(place.at) && !violations.new.has(place.at);
      found.set(key, differenceOf(named, place, [a, b], isRepair, values.inside));
    };
    const values: ValueComparison = {
      old: parts.old,
      new: parts.new,
      ids,
      sort: parameters?.sort,
      compared: (place, count = 1) => compared.set(place, (compared.get(place) ?? 0) + count),
      isFirstPage: parameters?.page === undefined || parameters.page === (operation?.paging?.firstPage ?? 1),
      differ,
      same: (name) => equivalences.set(name, (equivalences.get(name) ?? 0) + 1),
      atEdge: (edge) => {
        edges.push(edge);
        values.same('item at the edge of a page');
      },
      totals: (place, a, b) => {
        if (parts.eachAlone === true) differ('count', place, a, b);
        else totals = { place, old: a, new: b };
      },
      later: isSliced ? (step) => void later.push(step) : undefined,
    };
    const body = compareMessages(pair, places, read, values, failureOf);
    // A step can add further ones.
    for (const step of later) {
      yield;
      step();
    }
    latest = undefined;
    const differences = [...found.values()];
    const isDifferent = differences.some((one) => one.mutedBy === undefined);
    const result: PairResult = {
      pair,
      outcome: isDifferent ? 'different' : differences.length > 0 ? 'muted' : 'equal',
      differences,
      equivalences,
      isServed: old.status >= 200 && old.status <= 299 && (operation === undefined || isRead(read.old)),
      verdicts: { old: violations.old.verdict, new: violations.new.verdict },
      hasOtherTotal: totals !== undefined,
      accept: (counted = differences) => {
        const isCounted = counted.some((one) => one.mutedBy === undefined);
        for (const [place, count] of compared) place.compared += count;
        for (const { place, mutedBy: muted } of counted)
          if (muted === undefined) place.different += 1;
          else place.muted += 1;
        if (operation === undefined || body === undefined || parts.eachAlone === true) return;
        const page = parameters?.page ?? operation.paging?.firstPage ?? 1;
        const hasPages = edges.length > 0 || totals !== undefined || operation.paging !== undefined;
        if (hasPages)
          lists.see(
            {
              list: listOf(pair),
              page,
              pageCount: countedIn(places.body, body, 'pages'),
              edges: edges.map((edge) => ({
                edge,
                described: describeValue(edge.item, edge.place.marks),
                facts: () => factsOf(edge.place, toMembers(edge.item), edge.side === 'old' ? parts.old : parts.new),
              })),
              totals,
              net,
            },
            // The responses themselves must not stay in memory.
            {
              operation: operation.id,
              target: pair.target,
              outcome: isCounted ? 'different' : counted.length > 0 ? 'muted' : 'equal',
              others: pair.others,
            },
          );
      },
    };
    return result;
  }

  const violationsOf = (
    { operation, parameters }: ExchangePair,
    response: ServerResponse,
    json: ReadJson,
  ): PlaceSet => {
    if (operation === undefined || parameters === undefined) return new PlaceSet('unknown', []);
    const findings = contract.checkResponse(operation, parameters, {
      status: response.status,
      mediaType: response.mediaType,
      isEmpty: response.body.length === 0,
      json: plainValue(json),
      bytes: response.body,
    });
    const verdict = { valid: 'valid', violations: 'invalid', skipped: 'unknown' } as const;
    return new PlaceSet(verdict[findings.verdict], [...findings.violations, ...findings.reported]);
  };

  function* allPlaces(): Iterable<Place> {
    for (const { status, mediaType, headers, body } of scopes.values())
      for (const place of [status, mediaType, ...headers.values(), body]) yield* placesIn(place);
  }
  const atRef = ({ location, at, ...scope }: PlaceRef): Place => {
    const { status, mediaType, headers, body } = scopeOf({ ...scope, operation: scope.operation ?? undefined });
    if (location === 'status') return status;
    return location === 'header' ? (headers.get(at) ?? mediaType) : placeAt(body, at);
  };

  const refuted = (): readonly LateResult[] =>
    ids
      .takeRefuted()
      .map((place) => ({ difference: differenceOf('identity', place, [0, 0], false), exchange: undefined }));

  return {
    compare(pair) {
      const run = steps(pair, false);
      for (;;) {
        const step = run.next();
        if (step.done === true) return step.value;
      }
    },
    async compareInTurns(pair, turn) {
      const run = steps(pair, true);
      for (;;) {
        const step = run.next();
        if (step.done === true) return step.value;
        await turn();
      }
    },
    refuted,
    settle() {
      ids.settle();
      const late = lists.settle().map(({ kind, place, old, new: next, id, exchange }): LateResult => {
        const isOnlyNew = kind === 'extra-item' || (kind === 'other-item' && old === 'absent');
        const isLeak = isOnlyNew && isOfOthers(exchange.others, ids, place, id);
        const named = isLeak ? 'leak' : kind;
        const values = { old: String(old), new: String(next) };
        return { difference: { kind: named, place, ...values, mutedBy: undefined, isRepair: false }, exchange };
      });
      return [...late, ...refuted()];
    },
    save() {
      const places = numbered<Place>(allPlaces());
      const exchanges = numbered<LateExchange>([]);
      const saved = {
        lists: lists.save({ placeOf: places.numberOf, exchangeOf: exchanges.numberOf }),
        ids: ids.save(places.numberOf),
      };
      return {
        ...saved,
        places: places.all().map((place) => {
          const { scope, location, at, compared, different, muted } = place;
          return Object.assign({ location, at, compared, different, muted }, scope);
        }),
        exchanges: exchanges.all().map(({ operation, target, outcome, others }) => ({
          operation: operation ?? null,
          target,
          outcome,
          others: others === undefined ? null : { ids: [...others.ids], isAllowed: others.isAllowed },
        })),
      };
    },
    restore(saved) {
      const places = saved.places.map(({ compared, different, muted, ...ref }) => {
        const place = atRef(ref);
        place.compared += compared;
        place.different += different;
        place.muted += muted;
        // The rule has matched before the interruption.
        if (muted > 0) mutedBy('value', place, undefined);
        return place;
      });
      const exchanges = saved.exchanges.map(({ operation, target, outcome, others }) => ({
        operation: operation ?? undefined,
        target,
        outcome,
        others: others === null ? undefined : { ids: new Set(others.ids), isAllowed: others.isAllowed },
      }));
      lists.restore(saved.lists, { placeAt: byNumber(places), exchangeAt: byNumber(exchanges) });
      ids.restore(saved.ids, byNumber(places));
    },
    undecided: lists.undecided,
    places: allPlaces,
    itemIds(operation, response) {
      const json = readJson(response.body);
      if (!isRead(json)) return new Set();
      return new Set(itemsIn(operation, json.value).flatMap((item) => ownId(item) ?? []));
    },
    isAllowed: (operation, response) =>
      response.status >= 200 && response.status < 300 && failureOf(operation, response) === undefined,
  };
}

/** Numbers things in the order in which they are named. */
function numbered<Thing>(things: Iterable<Thing>) {
  const numbers = new Map<Thing, number>();
  const numberOf = (thing: Thing): number => {
    const number = numbers.get(thing) ?? numbers.size;
    numbers.set(thing, number);
    return number;
  };
  for (const thing of things) numberOf(thing);
  return { numberOf, all: () => [...numbers.keys()] };
}

/** Returns a function that finds things by their numbers. */
const byNumber =
  <Thing>(things: readonly Thing[]) =>
  (number: number): Thing => {
    const thing = things[number];
    if (thing === undefined) throw new TypeError('the saved comparison is damaged');
    return thing;
  };

/** The places, without indices, at which a response violates the contract. */
class PlaceSet {
  readonly verdict: Verdict;
  readonly #places: ReadonlySet<string>;
  constructor(verdict: Verdict, violations: readonly Violation[]) {
    this.verdict = verdict;
    this.#places = new Set(violations.map(({ at }) => anyIndex(at)));
  }
  has(at: string): boolean {
    return this.#places.has(at);
  }
}

const isRead = (json: ReadJson): json is Exclude<ReadJson, string> => typeof json === 'object';

/** What an error response means, in the terms of Portico's own errors. */
interface ReadFailure {
  readonly meaning: 'denied' | 'absent' | 'failed';
  readonly code: string;
  readonly text: string;
}

const MEANINGS: Readonly<Record<string, ReadFailure['meaning']>> = {
  upstream_permission_denied: 'denied',
  credentials_required: 'denied',
  upstream_unauthorized: 'denied',
  upstream_not_found: 'absent',
};

/** Creates a function that reads error responses in all forms of the API. It returns undefined for a success. */
function createFailureReader({ contract, failures }: ComparatorParts) {
  return (operation: Operation | undefined, { status, mediaType, body }: ServerResponse): ReadFailure | undefined => {
    const headers = mediaType === undefined ? [] : [['content-type', mediaType] as const];
    const translated = normalizeFailure(
      { status, headers: headers.map(([name, value]) => [name, value]), body },
      {
        ...failures,
        serverErrors: operation?.serverErrors ?? contract.rules.serverErrors,
        documentedErrors: operation?.documentedErrors ?? [],
        documentedFields: new Set(operation?.documentedFields),
        credential: 'caller',
        challenge: '',
      },
    );
    if (translated === undefined) return undefined;
    const { code, message } = translated.error;
    return { meaning: MEANINGS[code] ?? 'failed', code, text: message };
  };
}

/** Compares two whole responses. Returns the body of the old one if both bodies were compared as JSON. */
function compareMessages(
  { operation, old, new: next, others }: ExchangePair,
  { status, mediaType, headers, body }: ScopePlaces,
  read: { readonly old: ReadJson; readonly new: ReadJson },
  to: ValueComparison,
  failureOf: ReturnType<typeof createFailureReader>,
): Readonly<Record<string, unknown>> | undefined {
  to.compared(status);
  const [failedOld, failedNew] = [failureOf(operation, old), failureOf(operation, next)];
  const [wasOld, isNew] = [failedOld?.meaning ?? 'allowed', failedNew?.meaning ?? 'allowed'];
  if (wasOld !== isNew) {
    const isLeak = isNew === 'allowed' && (wasOld === 'denied' || (wasOld === 'absent' && others?.isAllowed === true));
    const isPermission = [wasOld, isNew].includes('denied') && [wasOld, isNew].includes('allowed');
    if (isLeak || isPermission) {
      to.differ(isLeak ? 'leak' : 'permission', status, old.status, next.status);
      return undefined;
    }
  }
  if (old.status !== next.status) {
    to.differ('status', status, old.status, next.status);
    return undefined;
  }
  for (const [name, place] of headers) compareHeader(to, place, [old.headers, next.headers], name);
  if (failedOld !== undefined || failedNew !== undefined) {
    if (failedOld?.code !== failedNew?.code || failedOld?.text !== failedNew?.text)
      to.differ('error', status, failedOld?.text, failedNew?.text);
    else if (!old.body.equals(next.body)) to.same('error form');
    return undefined;
  }
  const [typeOld, typeNew] = [essenceOf(old), essenceOf(next)];
  to.compared(mediaType);
  if (typeOld !== typeNew) to.differ('media-type', mediaType, typeOld, typeNew);
  else if (old.mediaType !== next.mediaType) compareCharsets(to, mediaType, old, next);
  // Many clients cannot read JSON that begins with a byte order mark.
  if (hasMark(old.body) !== hasMark(next.body)) to.differ('body', body, undefined, undefined);
  if (isRead(read.old) && isRead(read.new)) {
    // Of members with the same name, some clients read the first one and some the last one.
    if (read.old.hasRepeats !== read.new.hasRepeats) {
      to.differ('body', body, undefined, undefined);
      return undefined;
    }
    compareValues(to, body, read.old.value, read.new.value);
    return toMembers(read.old.value);
  }
  to.compared(body);
  const isSameKind = isRead(read.old) === isRead(read.new);
  // If the types differ, it is no surprise that the bodies do.
  if (typeOld === typeNew && (!isSameKind || !old.body.equals(next.body)))
    to.differ('body', body, undefined, undefined);
  return undefined;
}

const essenceOf = ({ mediaType }: ServerResponse) => (mediaType === undefined ? undefined : mediaTypeOf(mediaType));

/** Compares a header, if both responses are known to have or not to have it. */
function compareHeader(
  to: ValueComparison,
  place: Place,
  [old, next]: readonly [ServerResponse['headers'], ServerResponse['headers']],
  name: string,
): void {
  if (old === undefined || next === undefined) return;
  const [a, b] = [old.get(name), next.get(name)];
  if (a === undefined && b === undefined) return;
  to.compared(place);
  if (a === undefined || b === undefined) return to.differ(b === undefined ? 'missing' : 'extra', place, a, b);
  if (name !== 'www-authenticate') return compareValues(to, place, a, b);
  if (schemesOf(a) !== schemesOf(b)) to.differ('value', place, a, b);
}

/** Returns the schemes in a challenge, among which clients choose. The rest is only shown. */
const schemesOf = (text: string): string =>
  Array.from(text.toLowerCase().matchAll(/(?:^|,)\s*([a-z]+)(?=\s|,|$)/g), ([, scheme]) => scheme).join();

const hasMark = (bytes: Buffer) => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** Compares the charsets of two bodies of the same type. JSON is UTF-8, whether or not that is stated. */
function compareCharsets(to: ValueComparison, place: Place, old: ServerResponse, next: ServerResponse): void {
  const isJson = /[/+]json$/.test(essenceOf(old) ?? '');
  const charsetOf = ({ mediaType = '' }: ServerResponse) => {
    const [, stated = isJson ? 'utf-8' : ''] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(mediaType) ?? [];
    const charset = stated.toLowerCase();
    return isJson && /^(?:utf-?8|us-ascii)$/.test(charset) ? 'utf-8' : charset;
  };
  const [a, b] = [charsetOf(old), charsetOf(next)];
  if (a !== b) to.differ('media-type', place, `charset ${a}`, `charset ${b}`);
  else if (isJson) to.same('charset of JSON');
}

/** Returns the place of an operation's items, if they are in a member of the body. */
function itemsPlace(operation: Operation | undefined, body: Place): Place | undefined {
  if (operation === undefined || operation.itemsAt === 'body' || operation.itemsAt === 'elements') return undefined;
  return body.member(operation.itemsAt).items();
}

const toMembers = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

function itemsIn(operation: Operation | undefined, json: unknown): readonly unknown[] {
  if (Array.isArray(json)) return json as unknown[];
  const list = operation === undefined ? undefined : toMembers(json)[operation.itemsAt];
  return Array.isArray(list) ? (list as unknown[]) : [json];
}

/** Returns whether an item that only the new server sends is sent to other callers by the old one. */
const isForOthers = ({ others }: ExchangePair, ids: Identities, place: Place, item: unknown): boolean =>
  isOfOthers(others, ids, place, ownId(item));

function isOfOthers(others: ExchangePair['others'], ids: Identities, place: Place, id: string | undefined): boolean {
  if (others === undefined) return false;
  const known = id === undefined ? undefined : ids.toOld(place.member('id').marks.identity ?? place.at, id);
  return known !== undefined && others.ids.has(known);
}

/** Identifies a list by everything that was requested except the page. */
function listOf({ target, role }: ExchangePair): string {
  const [path = '', query = ''] = target.split('?', 2);
  const others = query.split('&').filter((one) => one !== '' && !one.startsWith('page='));
  return `${role} ${path}?${others.toSorted().join('&')}`;
}
