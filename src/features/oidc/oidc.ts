import type { ConfigProblem } from '../../engine/config/settings.ts';
import type { Feature } from '../../engine/feature.ts';
import { closestName } from '../../lib/closest-name.ts';
import { jwtVerifiers } from './jwt-verifier.ts';
import { OIDC_METRICS, registerOidcMetrics } from './oidc-metrics.ts';
import { options } from './options.ts';
import { isTrustworthy } from './trustworthy.ts';

/** Accepts tokens that OpenID Connect issuers have signed (docs/tokens.md#openid-connect). */
export const oidc = {
  name: 'oidc',
  options,
  metrics: OIDC_METRICS,
  // A walk sends requests of its own, with a password.
  forWalk: (given) => ({ ...given, issuers: [] }),
  check: ({ issuers }) =>
    issuers.flatMap(({ issuer }, index): ConfigProblem[] => {
      const pointer = `/oidc/issuers/${index}/issuer`;
      if (issuers.findIndex((one) => one.issuer === issuer) < index) return [{ pointer, message: 'is listed twice' }];
      if (isTrustworthy(issuer)) return [];
      const message = 'must be an https address: whoever can change the keys of the issuer can be any caller';
      return [{ pointer, message }];
    }),
  warn({ issuers }, { settings, roles }) {
    if (issuers.length === 0) return [];
    const { mode, upstream } = settings;
    if (mode.transparent)
      return [{ pointer: '/oidc/issuers', because: 'observe mode forwards every credential unchanged, even a token' }];
    const unknown = issuers.flatMap((issuer, index) =>
      Object.entries(issuer.roles?.map ?? {}).flatMap(([, role]) => {
        if (roles.roles.has(role)) return [];
        const near = closestName(role, [...roles.roles.keys()]);
        const meant = near === undefined ? '' : ` (did you mean ${near}?)`;
        return [
          { pointer: `/oidc/issuers/${index}/roles/map`, message: `"${role}" is not a role in the roles file${meant}` },
        ];
      }),
    );
    if (upstream.credentials.kind === 'service') return unknown;
    const message =
      'lets clients in with tokens, but there is no credential for the upstream, so they get a 501: set upstream.credentials to a service account';
    return [...unknown, { pointer: '/oidc/issuers', message }];
  },
  start({ options: { issuers, maxTokenBytes, ...limits }, clock, logger, settings, metrics }) {
    if (issuers.length === 0) return undefined;
    const counts = registerOidcMetrics(
      metrics,
      issuers.map(({ issuer }) => issuer),
    );
    let issuersAtWork: Awaited<ReturnType<typeof trust>> | undefined;
    // The library is loaded only if there are issuers, because it takes a while.
    const trust = async () => {
      const [{ createIssuerKeys }, { createJwts }] = await Promise.all([
        import('./issuer-keys.ts'),
        import('./verify-jwt.ts'),
      ]);
      const trusted = issuers.map((one) =>
        Object.assign({}, one, {
          keys: createIssuerKeys({
            ...limits,
            issuer: one.issuer,
            clock,
            logger,
            onFetched: (outcome) => counts.fetched(one.issuer, outcome),
          }),
        }),
      );
      return { trusted, jwts: createJwts(trusted, clock) };
    };
    return {
      verifiers: jwtVerifiers(
        {
          async verify(token) {
            // `open` comes before the first request.
            if (issuersAtWork === undefined) throw new Error('the feature is not open');
            const verification = await issuersAtWork.jwts.verify(token);
            counts.verified(verification.kind === 'busy' ? 'unavailable' : verification.kind);
            return verification;
          },
          claimOf: (token) => issuersAtWork?.jwts.claimOf(token),
        },
        maxTokenBytes,
      ),
      passiveVerifiers: jwtVerifiers(
        {
          verify: async (token) => issuersAtWork?.jwts.examine(token) ?? { kind: 'invalid' },
          claimOf: (token) => issuersAtWork?.jwts.claimOf(token),
        },
        maxTokenBytes,
      ),
      async open() {
        issuersAtWork = await trust();
      },
      use() {
        // The first token need not wait for the keys, and the log says at once if an issuer does not respond. In `observe`
        // mode, nothing is sent that no client has asked for.
        if (!settings.mode.transparent) for (const { keys } of issuersAtWork?.trusted ?? []) void keys.current(false);
      },
      close() {
        for (const { keys } of issuersAtWork?.trusted ?? []) keys.close();
      },
    };
  },
} as const satisfies Feature<typeof options>;
