import { tagsOf } from '../../cache/tags.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Violation } from '../../model/violation.ts';
import {
  boundPage as checkPage,
  type PageCounts,
  pageOutOfBounds,
  type PageRefusal,
  pageSizeRefusal,
  type SharedPageCounts,
} from '../../paging/page-counts.ts';
import type { Exchange } from '../exchange.ts';
import { pageCountKey } from '../page-key.ts';
import type { Reply } from '../reply.ts';
import type { Handler, StagePlanner, PlannedOperation } from '../stage.ts';

/**
 * Checks `page` and `pageSize` against their bounds before the request is sent upstream, and again when the response
 * arrives (docs/rules.md §5).
 */
export function boundPage(counts: PageCounts, sharedCounts: SharedPageCounts): StagePlanner {
  return {
    name: 'bound-page',
    check: 'pageBounds',
    plan(planned) {
      const { operation, checks } = planned;
      const { paging } = operation;
      const level = checks.pageBounds;
      if (level === 'off' || paging === undefined) return undefined;
      const passed = { level, outcome: 'passed' } as const;
      return (next) => {
        const handle = (exchange: Exchange, key: string | undefined, learnedCount: number | undefined) => {
          const { page, pageSize, unreadable } = exchange.requestedPage;
          const generation = counts.generation();
          const requestedPage = checkPage({ paging, page, pageSize, learnedCount, options: planned });
          exchange.trace.pageBounds = passed;
          if (!requestedPage.ok) refuse(planned, exchange, requestedPage);
          else
            for (const refusal of unreadable)
              refuse(planned, exchange, refusal.detail.name === 'pageSize' ? pageSizeRefusal(planned) : refusal);
          if (key === undefined) return next(exchange);
          const checked = (reply: Reply): Reply => {
            if (reply.status !== 200) return reply;
            const { pageCount } = reply;
            if (updatesCount(reply, () => counts.learned(key))) {
              const tags = tagsOf(operation.cacheability?.tags ?? [], exchange.values().path);
              counts.learn(key, pageCount, tags, generation);
            }
            const { firstPage } = paging;
            const refusal = pageOutOfBounds({ page: page ?? firstPage, pageCount, firstPage });
            if (refusal !== undefined && requestedPage.ok) refuse(planned, exchange, refusal);
            return reply;
          };
          const reply = next(exchange);
          return reply instanceof Promise ? reply.then(checked) : checked(reply);
        };
        const uncounted: Handler = (exchange) => handle(exchange, undefined, undefined);
        if (!paging.hasPageCount) return uncounted;
        return (exchange) => {
          const key = pageCountKey(planned, exchange);
          const learned = counts.learned(key);
          const { page = paging.firstPage } = exchange.requestedPage;
          // Only pages after the first can be out of bounds.
          if (learned !== undefined || page <= paging.firstPage || !sharedCounts.mayKnow(key))
            return handle(exchange, key, learned);
          return sharedCounts.find(key).then((count) => handle(exchange, key, count));
        };
      };
    },
  };
}

/**
 * Returns whether a reply updates the remembered page count. A new response from the upstream always updates it, even
 * if the response no longer has a page count. A stored page may be older than the remembered count, so it can only
 * raise the count. A stored page never restores a forgotten count, because an outdated count would then appear to be
 * new.
 */
function updatesCount({ facts, pageCount }: Reply, learnedCount: () => number | undefined): boolean {
  if (facts !== undefined) return facts.body.isJson;
  const learned = learnedCount();
  return pageCount !== undefined && learned !== undefined && pageCount > learned;
}

function refuse({ checks }: PlannedOperation, { trace }: Exchange, refusal: PageRefusal): void {
  const level = checks.pageBounds;
  // A value that cannot be parsed has already been reported by the parameter check.
  const { violations } = trace;
  const { name } = refusal.detail;
  if (!violations.some(({ check, location, at }) => check === 'requests' && location === 'query' && at === name))
    violations.push(violationOf(refusal));
  trace.pageBounds = { level, outcome: level === 'enforce' ? 'refused' : 'reported' };
  if (level === 'enforce') throw new GatewayError(refusal.code, refusal.message, { details: [refusal.detail] });
}

function violationOf({ code, detail, bound }: PageRefusal): Violation {
  return {
    check: 'pageBounds',
    direction: 'request',
    category: 'bounds',
    location: 'query',
    at: detail.name ?? '',
    keyword: code,
    schemaPath: '',
    message: bound,
    found: 'integer',
  };
}
