import { join } from 'node:path';
import express, { type Router } from 'express';
import type { OperatorPage } from '../../engine/http/operator-page.ts';
import type { UpstreamAddress } from '../../engine/upstream/upstream-url.ts';
import type { Candidate } from './candidate.ts';
import { LATENCY_BOUNDS } from './mirror-counts.ts';
import type { MirrorTotals } from './mirror-totals.ts';
import type { MirrorOptions } from './options.ts';
import { countRows, type OwnerOf, readinessOf, shownFindings } from './readiness.ts';

/** What operators see of a mirror. */
export interface ShownMirror {
  /** Returns what all gateways have counted. */
  readonly totals: () => MirrorTotals;
  readonly given: Pick<MirrorOptions, 'label' | 'share' | 'floor' | 'credentials'>;
  readonly address: UpstreamAddress;
  readonly candidate: Pick<Candidate, 'isPaused'>;
  readonly ownerOf: OwnerOf;
  /** Returns the file of accepted violations. Undefined if none can be accepted. */
  readonly acceptanceFile: () => string | undefined;
}

/** Returns the page that shows how far each operation is from being served by the second server. */
export function mirrorPage(shown: ShownMirror): OperatorPage {
  return {
    name: 'mirror',
    title: 'Mirror',
    position: 40,
    folder: join(import.meta.dirname, 'pages'),
    notice: () => (shown.candidate.isPaused() ? 'mirror paused' : undefined),
    data: () => mirrorRouter(shown),
  };
}

/** Returns the router of the page's data, which is also a part of the admin side. */
export function mirrorRouter({ totals, given, address, candidate, ownerOf, acceptanceFile }: ShownMirror): Router {
  return express.Router().get('/', (_req, res) => {
    const { label, share, floor, credentials } = given;
    const current = totals();
    res.json({
      label,
      url: address.origin + address.basePath,
      share,
      floor,
      credentials,
      since: new Date(current.since).toISOString(),
      paused: candidate.isPaused(),
      acceptance: { file: acceptanceFile() },
      latencyBounds: LATENCY_BOUNDS,
      operations: readinessOf(current, ownerOf),
      rows: countRows(current),
      findings: shownFindings(current, ownerOf).map((finding) =>
        Object.assign({ accepted: finding.owner !== undefined }, finding),
      ),
    });
  });
}
