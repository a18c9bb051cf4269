import { closestName } from '../lib/closest-name.ts';
import { VIOLATION_CATEGORIES, type ViolationCategory } from '../model/violation.ts';
import { findingsOf, isNew, type Report } from './report.ts';
import { countWords } from './report-words.ts';

/** When a report makes a pipeline fail. */
export type FailRule =
  | { readonly kind: 'new' }
  /** Any violation of these categories that is not accepted. */
  | { readonly kind: 'categories'; readonly categories: readonly ViolationCategory[] }
  /** This many distinct violations that are not accepted, or more; 0 is taken for 1. */
  | { readonly kind: 'count'; readonly least: number };

/** Reads one `--fail-on`; the message of what is wrong with it otherwise. */
export function parseFailRule(text: string): FailRule | { readonly fault: string } {
  if (text === 'new') return { kind: 'new' };
  const count = /^count=(?<least>\d{1,9})$/.exec(text)?.groups?.['least'];
  if (count !== undefined) return { kind: 'count', least: Number(count) };
  if (text.startsWith('count'))
    return { fault: `--fail-on ${text}: write count=N, which fails with N or more distinct violations` };
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const wrong = names.find((name) => !isCategory(name));
  if (wrong === undefined) return { kind: 'categories', categories: names.filter(isCategory) };
  if (wrong === 'new' || wrong.startsWith('count='))
    return {
      fault: `--fail-on ${text}: "${wrong}" stands alone; write --fail-on for each rule, one is enough to fail`,
    };
  const near = closestName(wrong, ['new', ...VIOLATION_CATEGORIES]);
  const hint = near === undefined ? '.' : `; did you mean ${near}?`;
  return {
    fault: `--fail-on ${text}: "${wrong}" is neither new, count=N nor a category${hint} Categories: ${VIOLATION_CATEGORIES.join(', ')}`,
  };
}

/** Why a report fails under the rules, one sentence for each rule that is broken; empty when it passes. */
export function failures(report: Pick<Report, 'groups'>, rules: readonly FailRule[]): readonly string[] {
  const unaccepted = findingsOf(report).filter(isNew);
  return rules.flatMap((rule) => {
    const hits =
      rule.kind === 'categories'
        ? unaccepted.filter(({ entry }) => rule.categories.includes(entry.category))
        : unaccepted;
    const least = rule.kind === 'count' ? Math.max(1, rule.least) : 1;
    return hits.length < least ? [] : [`${countWords(hits.length, 'distinct violation')} ${wordsOf(rule)}`];
  });
}

function wordsOf(rule: FailRule): string {
  if (rule.kind === 'new') return 'not in the baseline (--fail-on new)';
  if (rule.kind === 'count') return `not in the baseline (--fail-on count=${rule.least})`;
  return `of ${rule.categories.join(' or ')} (--fail-on ${rule.categories.join(',')})`;
}

const isCategory = (name: string): name is ViolationCategory =>
  (VIOLATION_CATEGORIES as readonly string[]).includes(name);
