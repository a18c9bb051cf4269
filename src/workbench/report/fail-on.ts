import { closestName } from '../../lib/closest-name.ts';
import { VIOLATION_CATEGORIES, type ViolationCategory } from '../../engine/model/violation.ts';
import { findingsOf, isFailure, isNew, type Report } from './report.ts';
import { countWords } from '../../lib/count-words.ts';

/** A condition under which a report fails a CI pipeline. Only the kind `categories` can match advisories. */
export type FailRule =
  /** Fails on any violation that is neither accepted nor an advisory. */
  | { readonly kind: 'new' }
  /** Fails on any violation in these categories that is not accepted, even if it is an advisory. */
  | { readonly kind: 'categories'; readonly categories: readonly ViolationCategory[] }
  /**
   * Fails if at least this many distinct violations are neither accepted nor advisories. 0 has the same meaning as 1.
   */
  | { readonly kind: 'count'; readonly least: number }
  /** Fails if the upstream failed: an exchange without a response, a 5xx status, or requests refused because of it. */
  | { readonly kind: 'outages' };

/** Parses a value of `--fail-on`. If the value is invalid, returns a message. */
export function parseFailRule(text: string): FailRule | { readonly fault: string } {
  if (text === 'new' || text === 'outages') return { kind: text };
  const count = /^count=(?<least>\d{1,9})$/.exec(text)?.groups?.['least'];
  if (count !== undefined) return { kind: 'count', least: Number(count) };
  if (text.startsWith('count'))
    return { fault: `--fail-on ${text}: must be count=N, which fails if there are at least N distinct violations` };
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const invalid = names.find((name) => !isCategory(name));
  if (invalid === undefined) return { kind: 'categories', categories: names.filter(isCategory) };
  if (invalid === 'new' || invalid === 'outages' || invalid.startsWith('count='))
    return {
      fault: `--fail-on ${text}: "${invalid}" cannot be combined with other rules; repeat --fail-on for each rule`,
    };
  const near = closestName(invalid, ['new', 'outages', ...VIOLATION_CATEGORIES]);
  const hint = near === undefined ? '.' : `; did you mean ${near}?`;
  return {
    fault: `--fail-on ${text}: "${invalid}" is neither new nor outages nor count=N nor a category${hint} Categories: ${VIOLATION_CATEGORIES.join(', ')}`,
  };
}

/** Returns one message for each rule that makes a report fail, or an empty list if the report passes. */
export function failures(report: Pick<Report, 'groups' | 'outages'>, rules: readonly FailRule[]): readonly string[] {
  const unaccepted = findingsOf(report).filter(isNew);
  return rules.flatMap((rule) => {
    if (rule.kind === 'outages')
      return report.outages.length === 0
        ? []
        : [`${countWords(report.outages.length, 'kind')} of upstream failures (--fail-on outages)`];
    const hits =
      rule.kind === 'categories'
        ? unaccepted.filter(({ entry }) => rule.categories.includes(entry.category))
        : unaccepted.filter(isFailure);
    const least = rule.kind === 'count' ? Math.max(1, rule.least) : 1;
    return hits.length < least ? [] : [`${countWords(hits.length, 'distinct violation')} ${wordsOf(rule)}`];
  });
}

function wordsOf(rule: Exclude<FailRule, { kind: 'outages' }>): string {
  if (rule.kind === 'new') return 'not in the baseline (--fail-on new)';
  if (rule.kind === 'count') return `not in the baseline (--fail-on count=${rule.least})`;
  return `of ${rule.categories.join(' or ')} (--fail-on ${rule.categories.join(',')})`;
}

const isCategory = (name: string): name is ViolationCategory =>
  (VIOLATION_CATEGORIES as readonly string[]).includes(name);
