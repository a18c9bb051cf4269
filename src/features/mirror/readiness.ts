import { LEAK } from '../../comparison/difference-violation.ts';
import { bucketQuantile } from '../../lib/bucket-quantile.ts';
import { upperShare } from '../../lib/share-bounds.ts';
import { LATENCY_BOUNDS, LEAK_MARK, NO_PARAMETER, type Outcome, OTHER_SET } from './mirror-counts.ts';
import { type CallerSample, type Finding, MAX_SAMPLE, MORE, type MirrorTotals } from './mirror-totals.ts';

/** The counts of one operation, status and role, and of one parameter in the requests. */
export interface CountRow extends Readonly<Record<Outcome, number>> {
  readonly operation: string;
  readonly status: number;
  readonly role: string;
  /** The name of the parameter. Empty for all requests, whatever their parameters. */
  readonly parameter: string;
  /** How many differences vanished when both servers were asked again. */
  readonly races: number;
}

/** The response times of one server, in seconds. */
export interface Latency {
  readonly count: number;
  readonly sum: number;
  /** The number of responses that took at most as long as each of `LATENCY_BOUNDS`. */
  readonly buckets: readonly number[];
  /** The estimated median and 99th percentile, within the first and the last bound. Undefined without responses. */
  readonly p50: number | undefined;
  readonly p99: number | undefined;
}

/** How far one operation is from being served by the second server. */
export interface Readiness extends Readonly<Record<Outcome, number>> {
  readonly operation: string;
  /** The exchanges with the legacy server, mirrored or not. */
  readonly exchanges: number;
  readonly compared: number;
  /** True if something was compared, but only exchanges in which the legacy server sent no 2xx. */
  readonly onlyRefusals: boolean;
  /** How many of the different exchanges have only accepted differences. */
  readonly accepted: number;
  /** Who has accepted them. */
  readonly owners: readonly string[];
  readonly races: number;
  readonly unconfirmed: number;
  readonly undecided: number;
  /** The compared share of the exchanges. */
  readonly coverage: number;
  /** The share of exchanges that would differ in ways that nobody has accepted is below this, with a confidence of 95%. */
  readonly atMost: number;
  /** About how many callers were compared. */
  readonly callers: number;
  /** How many callers are in the sample, and how many of them have received a difference that nobody has accepted. */
  readonly sampledCallers: number;
  readonly noticingCallers: number;
  /** The share of callers who would notice a difference is below this, with a confidence of 95%. */
  readonly callersAtMost: number;
  /** The number of exchanges by the verdicts on both responses, as `old → new`. */
  readonly verdicts: Readonly<Record<string, number>>;
  readonly because: Readonly<Record<string, number>>;
  readonly latency: { readonly old: Latency; readonly new: Latency };
}

/** Returns who has accepted a difference, or undefined if nobody has. */
export type OwnerOf = (fingerprint: string) => string | undefined;

/** Returns who has accepted a marked difference. A leak, and what is not told apart, is never accepted. */
const acceptedBy = (mark: string, ownerOf: OwnerOf): string | undefined =>
  mark === OTHER_SET || mark === MORE || mark.startsWith(LEAK_MARK) ? undefined : ownerOf(mark);

/** Returns the counts of each operation, status, role and parameter. */
export function countRows(totals: Pick<MirrorTotals, 'sums'>): readonly CountRow[] {
  const sortKey = (row: CountRow) => `${row.operation}\n${row.role}\n${row.status}\n${row.parameter}`;
  return unsortedRows(totals, () => true).toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

function unsortedRows(
  { sums }: Pick<MirrorTotals, 'sums'>,
  isWanted: (parameter: string) => boolean,
): readonly CountRow[] {
  const rows = new Map<string, { -readonly [Key in keyof CountRow]: CountRow[Key] }>();
  for (const [key, count] of sums) {
    const [what, operation = '', status = '', role = '', parameter = '', outcome = ''] = key.split('\n');
    if (what !== 'cell' || !isWanted(parameter)) continue;
    const id = `${operation}\n${status}\n${role}\n${parameter}`;
    const none = { equal: 0, different: 0, muted: 0, notComparable: 0, notMade: 0, races: 0 };
    const row = rows.get(id) ?? { operation, status: Number(status), role, parameter, ...none };
    row[outcome as Outcome | 'races'] += count;
    rows.set(id, row);
  }
  return [...rows.values()];
}

/** How many comparisons were made with one version of the contract, in one release of the legacy server. */
export interface VersionRow {
  readonly contract: string;
  readonly release: string;
  readonly count: number;
}

/** Returns with which versions the comparisons were made. */
export function versionRows({ sums }: Pick<MirrorTotals, 'sums'>): readonly VersionRow[] {
  return [...sums].flatMap(([key, count]) => {
    const [what, contract = '', release = ''] = key.split('\n');
    return what === 'versions' ? [{ contract, release, count }] : [];
  });
}

/** Returns how far each operation is. */
export function readinessOf(totals: MirrorTotals, findOwner: OwnerOf): readonly Readiness[] {
  // A thousand callers may have received the same difference.
  const known = new Map<string, string | undefined>();
  const ownerOf: OwnerOf = (fingerprint) => {
    if (!known.has(fingerprint)) known.set(fingerprint, findOwner(fingerprint));
    return known.get(fingerprint);
  };
  const others = [...totals.sums].filter(([key]) => !key.startsWith('cell\n'));
  const sumsOf = Map.groupBy(others, ([key]) => key.split('\n', 2)[1] ?? '');
  const whole = unsortedRows(totals, (parameter) => parameter === NO_PARAMETER);
  const readiness = (operation: string, rows: readonly CountRow[]): Readiness => {
    const own = (sumsOf.get(operation) ?? []).map(([key, count]) => [key.split('\n'), count] as const);
    const of = (name: string) =>
      own.flatMap(([[what, , word = '', more = ''], n]) => (what === name ? [[word, more, n] as const] : []));
    const total = (name: string) => of(name).reduce((sum, [, , count]) => sum + count, 0);
    const sums = { equal: 0, different: 0, muted: 0, notComparable: 0, notMade: 0, races: 0 };
    for (const row of rows) for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += row[name];
    const owners = new Set<string>();
    let accepted = 0;
    for (const [set, , count] of of('different')) {
      const found = set.split(' ').map((mark) => acceptedBy(mark, ownerOf));
      if (!found.every((owner) => owner !== undefined)) continue;
      accepted += count;
      for (const owner of found) owners.add(owner);
    }
    const compared = sums.equal + sums.different + sums.muted;
    const exchanges = compared + sums.notComparable + sums.notMade;
    const sample: CallerSample = totals.callers.get(operation) ?? new Map();
    const noticing = [...sample.values()].filter((marks) =>
      marks.some((mark) => acceptedBy(mark, ownerOf) === undefined),
    );
    return {
      ...sums,
      operation,
      exchanges,
      compared,
      onlyRefusals: compared > 0 && !rows.some((row) => isSuccess(row.status) && comparedIn(row) > 0),
      accepted,
      owners: [...owners].toSorted(),
      unconfirmed: total('unconfirmed'),
      undecided: total('undecided'),
      coverage: exchanges === 0 ? 0 : compared / exchanges,
      atMost: upperShare(sums.different - accepted, compared),
      callers: estimateCallers(sample),
      sampledCallers: sample.size,
      noticingCallers: noticing.length,
      callersAtMost: upperShare(noticing.length, sample.size),
      verdicts: Object.fromEntries(of('verdicts').map(([word, , count]) => [word, count])),
      because: Object.fromEntries(of('because').map(([word, , count]) => [word, count])),
      latency: { old: latencyOf(of, 'old'), new: latencyOf(of, 'new') },
    };
  };
  return Array.from(
    Map.groupBy(whole, ({ operation }) => operation),
    ([operation, rows]) => readiness(operation, rows),
  ).toSorted((a, b) => (a.operation < b.operation ? -1 : 1));
}

const isSuccess = (status: number) => status >= 200 && status <= 299;
const comparedIn = ({ equal, different, muted }: CountRow) => equal + different + muted;

/** Estimates the number of callers from a sample of those with the smallest numbers. */
function estimateCallers(sample: CallerSample): number {
  if (sample.size < MAX_SAMPLE) return sample.size;
  const largest = Math.max(...sample.keys());
  return Math.round(((MAX_SAMPLE - 1) * 2 ** 32) / Math.max(1, largest));
}

function latencyOf(
  of: (name: string) => readonly (readonly [word: string, more: string, count: number])[],
  side: 'old' | 'new',
): Latency {
  // The last class contains what took longer than the last bound.
  const classes = [...LATENCY_BOUNDS.map(() => 0), 0];
  for (const [whose, index, n] of of('time'))
    if (whose === side && Number(index) < classes.length) classes[Number(index)] = (classes[Number(index)] ?? 0) + n;
  const sum = of('microseconds').find(([whose]) => whose === side)?.[2] ?? 0;
  let below = 0;
  return {
    count: classes.reduce((all, n) => all + n, 0),
    sum: sum / 1e6,
    buckets: classes.slice(0, -1).map((n) => (below += n)),
    p50: bucketQuantile(0.5, LATENCY_BOUNDS, classes),
    p99: bucketQuantile(0.99, LATENCY_BOUNDS, classes),
  };
}

/** A difference as operators see it. */
export interface ShownFinding extends Finding {
  readonly count: number;
  /** Who has accepted it. Undefined if nobody has. */
  readonly owner: string | undefined;
}

/** Returns the distinct differences, the latest first. */
export function shownFindings({ sums, findings }: MirrorTotals, ownerOf: OwnerOf): readonly ShownFinding[] {
  return [...findings.values()]
    .toSorted((a, b) => b.lastSeenAt - a.lastSeenAt)
    .map((finding) =>
      Object.assign({}, finding, {
        count: sums.get(`finding\n${finding.fingerprint}`) ?? 0,
        // Nobody can accept a leak.
        owner: finding.keyword === LEAK ? undefined : ownerOf(finding.fingerprint),
      }),
    );
}
