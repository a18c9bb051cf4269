import type { FeatureMetrics } from '../../engine/telemetry/metric-registry.ts';
import { type Clock, DAY_MS } from '../../lib/clock.ts';
import { endOf, stateOf, type TokenRecord } from './token-record.ts';
import type { TokenStore } from './token-store.ts';

/** How verifications of tokens end. */
export const VERIFICATION_OUTCOMES = ['valid', 'wrong', 'ended', 'revoked', 'unavailable'] as const;

/** How the verification of a token ended. */
export type VerificationOutcome = (typeof VERIFICATION_OUTCOMES)[number];

const VERIFICATIONS = {
  name: 'portico_token_verifications_total',
  type: 'counter',
  labels: ['outcome'],
  help: 'Verifications of tokens, by outcome: valid, wrong (no such token, another secret or another user name), ended, revoked, or unavailable (this gateway cannot know what was revoked).',
} as const;

const TOKENS = {
  name: 'portico_tokens',
  type: 'gauge',
  labels: ['state'],
  help: 'Tokens, by state: valid, expiring (valid, but not replaced yet and about to end), ended or revoked in the last 30 days.',
} as const;

const PASSWORDS = {
  name: 'portico_token_passwords',
  type: 'gauge',
  labels: [],
  help: 'Tokens with an enrolled password.',
} as const;

/** The metrics of tokens. */
export const TOKEN_METRICS = [VERIFICATIONS, TOKENS, PASSWORDS] as const;

/** How long before its end a token that was created for longer should be replaced, in milliseconds. */
const EXPIRING_MS = 7 * DAY_MS;

const STATES = ['valid', 'expiring', 'ended', 'revoked'] as const;

/** Registers the metrics of tokens. Returns the function that counts verifications. */
export function registerTokenMetrics(
  metrics: FeatureMetrics,
  store: Pick<TokenStore, 'all'>,
  clock: Clock,
): (outcome: VerificationOutcome) => void {
  metrics.read(TOKENS, () => {
    const states = store.all().map((record) => shownState(record, clock()));
    return STATES.map((state) => [[state], states.filter((one) => one === state).length] as const);
  });
  metrics.read(PASSWORDS, () => [[[], store.all().filter(({ sealed }) => sealed !== undefined).length]]);
  return metrics.counter(VERIFICATIONS, [VERIFICATION_OUTCOMES]);
}

function shownState(record: TokenRecord, now: number): (typeof STATES)[number] {
  const { createdAt, expiresAt, retiresAt } = record;
  const state = stateOf(record, now);
  const isExpiring =
    retiresAt === undefined && expiresAt - createdAt > EXPIRING_MS && endOf(record) - now <= EXPIRING_MS;
  return state === 'valid' && isExpiring ? 'expiring' : state;
}
