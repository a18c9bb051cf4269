import { authorsOf } from '../../../src/engine/pipeline/authors.ts';
import { bodyFactsOf } from '../../../src/engine/pipeline/body-facts.ts';
import { createScanResponse } from '../../../src/engine/pipeline/scan-response.ts';
import { openScanner } from '../../../src/engine/scanner/open-scanner.ts';
import { DEFAULT_JSON_LIMITS } from '../../../src/lib/bounded-json.ts';
import type { Stage } from '../stage.ts';

/** The stage that checks a page against the contract without parsing it. */
export const scan: Stage = {
  name: 'scan',
  what: 'scanning the bytes; semantic rules, tags, page count and authors',
  paidBy: 'miss',
  prepare: ({ assembly: { gateway }, plan, exchange, body }) => {
    const scanResponse = createScanResponse(gateway.contract, openScanner(DEFAULT_JSON_LIMITS), plan.items);
    const values = exchange.values();
    const look = { status: 200, mediaType: 'application/json', bytes: body };
    const scanned = () => {
      const found = scanResponse(plan.operation, values, look);
      if (typeof found !== 'object') throw new Error('the page is not proven valid');
      return { facts: bodyFactsOf(plan, found.json), authors: authorsOf(plan, found.json) };
    };
    scanned();
    return { run: scanned };
  },
};
