import { wilsonBound } from '../confidence.ts';
import { childPath, type DocumentNode } from '../../../learner/document.ts';
import type { Observations, PageSizes } from '../../../learner/observations/observations.ts';
import type { OverlayAction, Proposal } from './proposal.ts';

const PARAMETER = '$.components.parameters.pageSize';

/** Proposes page sizes: the largest size at which the server returns full pages, and the default size. */
export function proposePages({ pages }: Observations, document: DocumentNode, minConfidence: number): Proposal[] {
  const described = document.components.parameters['pageSize'] !== undefined;
  const statements: string[] = [];
  const largest = [...pages]
    .flatMap(([operation, seen]) => largestOf(operation, seen))
    .filter(({ confidence }) => confidence >= minConfidence)
    .map((proposal) => {
      statements.push(`${proposal.place}: ${proposal.statement}`);
      return Object.assign(proposal, { actions: described ? [describeAction(statements)] : [] });
    });
  return [...largest, ...[...pages].flatMap(([operation, seen]) => defaultOf(operation, seen, document))];
}

/** Returns an action that replaces the parameter's description with one that lists statements about page sizes. */
function describeAction(statements: readonly string[]): OverlayAction {
  return {
    target: PARAMETER,
    description: 'Requested and returned page sizes',
    update: { description: `Items per page. Seen: ${statements.join('; ')}.` },
  };
}

function largestOf(operation: string, seen: PageSizes): Proposal[] {
  const found = largestOfAll(seen);
  if (found === undefined) return [];
  const { statement, count, all } = found;
  return [
    {
      kind: 'page-size',
      place: operation,
      statement,
      confidence: wilsonBound(count, all),
      evidence: evidence(seen, count, all),
      actions: [],
    },
  ];
}

function largestOfAll(seen: PageSizes): { statement: string; count: number; all: number } | undefined {
  const { honoured, honouredAnswers, accepted, refused, refusedAnswers } = seen;
  // A larger page was returned in full, so a smaller page must have been truncated for a different reason.
  const clamps = [...seen.clamped].filter(([size]) => size >= honoured).toSorted((a, b) => b[1] - a[1]);
  const [clamp] = clamps;
  if (clamp !== undefined) {
    const all = clamps.reduce((sum, [, count]) => sum + count, 0);
    return { statement: `${clamp[0]} is the largest page`, count: clamp[1], all };
  }
  if (refused > accepted) {
    const statement =
      accepted === 0
        ? `${refused} is refused`
        : accepted + 1 === refused
          ? `${accepted} is the largest size that is not refused`
          : `${accepted} is honored, ${refused} is refused`;
    const all = honouredAnswers + refusedAnswers;
    return { statement, count: all, all };
  }
  if (honoured === 0) return undefined;
  const statement = `${honoured} is honored; no larger page was requested from a list with enough items`;
  return { statement, count: honouredAnswers, all: honouredAnswers };
}

function defaultOf(operation: string, seen: PageSizes, document: DocumentNode): Proposal[] {
  const [most] = [...seen.unasked].toSorted((a, b) => b[1] - a[1]);
  const all = [...seen.unasked.values()].reduce((sum, count) => sum + count, 0);
  const found = pagingOf(document, operation);
  if (most === undefined || found === undefined || found.documented === most[0]) return [];
  const [size, count] = most;
  return [
    {
      kind: 'page-size',
      place: operation,
      statement: `${size} items are returned if no page size is requested`,
      confidence: wilsonBound(count, all),
      evidence: evidence(seen, count, all),
      actions: [
        {
          target: found.path,
          description: `${operation}: the default page size`,
          update: { observedPageSize: size },
        },
      ],
    },
  ];
}

function pagingOf(document: DocumentNode, operation: string) {
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, source] of Object.entries(methods)) {
      const paging = source['x-paging'];
      if (source.operationId === operation && paging !== undefined)
        return {
          path: childPath(childPath(childPath('$.paths', path), method), 'x-paging'),
          documented: paging.observedPageSize,
        };
    }
  return undefined;
}

function evidence({ firstSeenAt, lastSeenAt }: PageSizes, seen: number, of: number) {
  return { seen, answers: seen, of, firstSeenAt, lastSeenAt };
}
