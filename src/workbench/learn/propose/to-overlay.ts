import type { Observations } from '../../../learner/observations/observations.ts';
import type { Proposal } from './proposal.ts';
import { confidenceWord, shownConfidence } from '../confidence.ts';

/** An OpenAPI Overlay 1.0 document with the evidence for each action. */
interface OverlayDocument {
  readonly overlay: '1.0.0';
  readonly info: { readonly title: string; readonly version: string };
  readonly 'x-evidence': Readonly<Record<string, unknown>>;
  /** The undocumented paths that have no actions because their bodies were not sampled. */
  readonly 'x-portico-undocumented'?: readonly Readonly<Record<string, unknown>>[];
  readonly actions: readonly Readonly<Record<string, unknown>>[];
}

/** Converts proposals to an overlay. Returns undefined if no proposal has any actions. */
export function toOverlay(proposals: readonly Proposal[], seen: Observations): OverlayDocument | undefined {
  const actions = proposals.flatMap((proposal) =>
    proposal.actions.map((action) => ({ ...action, 'x-evidence': evidenceOf(proposal) })),
  );
  const paths = proposals.filter(({ kind, actions: changes }) => kind === 'path' && changes.length === 0);
  if (actions.length === 0) return undefined;
  return {
    overlay: '1.0.0',
    info: { title: 'Additions to the contract, learned from traffic', version: dayOf(seen.untilAt) },
    'x-evidence': {
      answers: seen.answers,
      firstSeen: toInstant(seen.sinceAt),
      lastSeen: toInstant(seen.untilAt),
      dropped: seen.dropped,
    },
    ...(paths.length > 0 && {
      'x-portico-undocumented': paths.map((one) => ({
        address: one.place,
        statement: one.statement,
        'x-evidence': evidenceOf(one),
      })),
    }),
    actions,
  };
}

function evidenceOf({ statement, confidence, evidence }: Proposal): Readonly<Record<string, unknown>> {
  const { seen, answers, of, firstSeenAt, lastSeenAt } = evidence;
  return {
    statement,
    confidence: shownConfidence(confidence),
    belief: confidenceWord(confidence),
    seen,
    ...(of !== undefined && { of }),
    answers,
    firstSeen: toInstant(firstSeenAt),
    lastSeen: toInstant(lastSeenAt),
  };
}

const toInstant = (at: number) => new Date(at).toISOString();
const dayOf = (at: number) => toInstant(at).slice(0, 10);
