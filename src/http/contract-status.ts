import type { Trace } from '../model/trace.ts';
import { VIOLATION_CATEGORIES } from '../model/violation.ts';

/** The value of `Contract-Status`: how this request and its answer stand against the contract, as a structured field. */
export function contractStatus({ violations, responses }: Pick<Trace, 'violations' | 'responses'>): string {
  const skipped = responses?.outcome === 'skipped' ? `; skipped=${token(responses.reason)}` : '';
  if (violations.length === 0) return `conforming${skipped}`;
  const worst = VIOLATION_CATEGORIES.find((category) =>
    violations.some((violation) => violation.category === category),
  );
  return `violations; count=${violations.length}; worst=${worst ?? 'semantic'}${skipped}`;
}

function token(reason: string | undefined): string {
  return (reason ?? '').replaceAll(/[^\w-]+/g, '-').slice(0, 40) || 'unknown';
}
