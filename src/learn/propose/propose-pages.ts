import { type DocumentNode, stepTo } from '../document.ts';
import type { Observations, PageSizes } from '../observations/observations.ts';
import type { OverlayAction, Proposal } from './proposal.ts';
import { wilsonBound } from './wilson-bound.ts';

const PARAMETER = '$.components.parameters.pageSize';

/** Proposals about page sizes: the largest that is honoured, and the one that comes unasked. */
export function proposePages({ pages }: Observations, document: DocumentNode): Proposal[] {
  const largest = [...pages].flatMap(([operation, seen]) => largestOf(operation, seen));
  const told = largest.map(({ place, statement }) => `${place}: ${statement}`).join('; ');
  const tell: OverlayAction[] =
    told === '' || document.components.parameters['pageSize'] === undefined
      ? []
      : [
          {
            target: PARAMETER,
            description: 'Page sizes that were asked for and those that came',
            update: { description: `Items per page. Seen: ${told}.` },
          },
        ];
  return [
    ...largest.map((proposal, index) => Object.assign(proposal, { actions: index === 0 ? tell : [] })),
    ...[...pages].flatMap(([operation, seen]) => unaskedOf(operation, seen, document)),
  ];
}

function largestOf(operation: string, seen: PageSizes): Proposal[] {
  const [clamp] = [...seen.clamped].toSorted((a, b) => b[1] - a[1]);
  const full = [...seen.clamped.values()].reduce((sum, count) => sum + count, 0);
  if (clamp === undefined && seen.honoured === 0) return [];
  const [size, count] = clamp ?? [seen.honoured, seen.honouredAnswers];
  const statement =
    clamp === undefined
      ? `${size} is honoured; nothing larger was tried with as many items`
      : `${size} is the largest page`;
  return [
    {
      kind: 'page-size',
      place: operation,
      statement,
      confidence: wilsonBound(count, clamp === undefined ? count : full),
      evidence: evidence(seen, count, clamp === undefined ? count : full),
      actions: [],
    },
  ];
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
