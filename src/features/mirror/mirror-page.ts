import { join } from 'node:path';
import express, { type Router } from 'express';
import type { OperatorPage } from '../../engine/http/operator-page.ts';
import type { IsAccepted } from '../../engine/model/acceptance.ts';
import type { UpstreamAddress } from '../../engine/upstream/upstream-url.ts';
import { LEAK } from '../../comparison/difference-violation.ts';
import type { Candidate } from './candidate.ts';
import { type Finding, LATENCY_BOUNDS, type MirrorCounts } from './mirror-counts.ts';
import type { MirrorOptions } from './options.ts';

/** What operators see of a mirror. */
export interface ShownMirror {
  readonly counts: MirrorCounts;
  readonly given: Pick<MirrorOptions, 'label' | 'share' | 'floor' | 'credentials'>;
  readonly address: UpstreamAddress;
  readonly candidate: Pick<Candidate, 'isPaused'>;
  readonly isAccepted: IsAccepted;
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
export function mirrorRouter({ counts, given, address, candidate, isAccepted }: ShownMirror): Router {
  // Nobody can accept a leak.
  const accepts = ({ fingerprint, keyword, status }: Finding) =>
    keyword !== LEAK && isAccepted({ fingerprint, check: 'responses', status: status >= 500 ? undefined : status });
  return express.Router().get('/', (_req, res) => {
    const { label, share, floor, credentials } = given;
    res.json({
      label,
      url: address.origin + address.basePath,
      share,
      floor,
      credentials,
      since: new Date(counts.since).toISOString(),
      paused: candidate.isPaused(),
      latencyBounds: LATENCY_BOUNDS,
      operations: counts.readiness(),
      rows: counts.rows(),
      findings: counts.findings().map((finding) => Object.assign({ accepted: accepts(finding) }, finding)),
    });
  });
}
