import { type DocumentNode, stepTo } from '../document.ts';
import type { Observations, PageSizes } from '../observations/observations.ts';
import type { OverlayAction, Proposal } from './proposal.ts';
import { wilsonBound } from '../confidence.ts';

const PARAMETER = '$.components.parameters.pageSize';

/** Proposals about page sizes: the largest that is honoured, and the one that comes unasked. */
export function proposePages({ pages }: Observations, document: DocumentNode, least: number): Proposal[] {
  const described = document.components.parameters['pageSize'] !== undefined;
  const told: string[] = [];
  const largest = [...pages]
    .flatMap(([operation, seen]) => largestOf(operation, seen))
    .filter(({ confidence }) => confidence >= least)
    .map((proposal) => {
      told.push(`${proposal.place}: ${proposal.statement}`);
      return Object.assign(proposal, { actions: described ? [tellAction(told)] : [] });
    });
  return [...largest, ...[...pages].flatMap(([operation, seen]) => unaskedOf(operation, seen, document))];
}

/** One description for all lists: each action writes what those before it told, and one thing more. */
function tellAction(told: readonly string[]): OverlayAction {
  return {
    target: PARAMETER,
    description: 'Page sizes that were asked for and those that came',
    update: { description: `Items per page. Seen: ${told.join('; ')}.` },
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
  // What is smaller than a page that really came was cut off for another reason.
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
          : `${accepted} is honoured, ${refused} is refused`;
    const all = honouredAnswers + refusedAnswers;
    return { statement, count: all, all };
  }
  if (honoured === 0) return undefined;
  const statement = `${honoured} is honoured; nothing larger was tried with as many items`;
  return { statement, count: honouredAnswers, all: honouredAnswers };
}

function unaskedOf(operation: string, seen: PageSizes, document: DocumentNode): Proposal[] {
  const [most] = [...seen.unasked].toSorted((a, b) => b[1] - a[1]);
  const all = [...seen.unasked.values()].reduce((sum, count) => sum + count, 0);
  const found = pagingOf(document, operation);
  if (most === undefined || found === undefined || found.documented === most[0]) return [];
  const [size, count] = most;
  return [
    {
      kind: 'page-size',
      place: operation,
      statement: `${size} items come where no size is asked for`,
      confidence: wilsonBound(count, all),
      evidence: evidence(seen, count, all),
      actions: [
        {
          target: found.path,
          description: `${operation}: the page size that comes unasked`,
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
          path: stepTo(stepTo(stepTo('$.paths', path), method), 'x-paging'),
          documented: paging.observedPageSize,
        };
    }
  return undefined;
}

function evidence({ firstSeenAt, lastSeenAt }: PageSizes, seen: number, of: number) {
  return { seen, answers: seen, of, firstSeenAt, lastSeenAt };
}
