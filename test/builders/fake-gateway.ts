import { PROFILE } from '../../src/profile/profile.ts';
import { createSessions } from '../../src/engine/upstream/sessions.ts';
import type { PathMatch } from '../../src/engine/contract/paths.ts';
import type { AuthenticationInput, AuthenticationResult } from '../../src/engine/identity/create-authenticator.ts';
import { MODES } from '../../src/engine/model/modes.ts';
import type { CompiledGateway } from '../../src/engine/pipeline/compiled-gateway.ts';
import type { Plan } from '../../src/engine/pipeline/plan.ts';
import { createTargets } from '../../src/engine/pipeline/targets.ts';
import { compileUndocumentedPlan } from '../../src/engine/pipeline/undocumented/plan.ts';
import type { UndocumentedPolicy, UndocumentedVerdict } from '../../src/engine/pipeline/undocumented/verdict.ts';
import type { ExchangedResponse } from '../../src/engine/upstream/create-upstream.ts';
import { compilePathTemplate } from '../../src/engine/privacy/path-template.ts';
import { compileLegacyAddresses } from '../../src/engine/upstream/legacy-addresses.ts';
import { fakeExchanges } from './fake-exchanges.ts';
import { callerNamed, createNext, exchangeWith, type FakeNext, grantsWith, plannedWith } from './exchange.ts';

/** The options for a fake gateway. */
export interface FakeGatewayParts extends Partial<CompiledGateway> {
  /** The gateway's only plan. If it is undefined, the gateway has no documented paths. */
  readonly plan?: Partial<Plan> | undefined;
  readonly authenticate?: (input: AuthenticationInput) => AuthenticationResult | Promise<AuthenticationResult>;
  readonly verdict?: UndocumentedVerdict;
  readonly match?: Partial<PathMatch>;
  /** Returns the upstream's response for undocumented paths. By default, the status is 299. */
  readonly passed?: () => ExchangedResponse | Promise<ExchangedResponse>;
  readonly serviceCredential?: boolean;
}

/** Creates a gateway with a fake plan for a single documented list. All other paths are undocumented. */
export function gatewayWith({ plan: planParts = {}, ...parts }: FakeGatewayParts = {}) {
  const next = createNext();
  const planned = plannedWith();
  const plan: Plan = { ...planned, stages: ['forward'], handle: next.handle, ...planParts };
  const authenticated: AuthenticationInput[] = [];
  const judged: Parameters<UndocumentedPolicy>[] = [];
  const principal = callerNamed('alice');
  const trace = { level: 'enforce', outcome: 'passed', principal: 'verified' } as const;
  const authenticate = parts.authenticate ?? (() => Promise.resolve({ principal, trace }));
  const match: PathMatch = {
    template: plan.operation.path,
    byMethod: new Map([[plan.operation.method, plan.operation]]),
    undocumentedMethods: new Set(),
    rawParameters: {},
    ...parts.match,
  };
  const fakeContract = {
    version: 'v',
    match: (path: string) => (path === plan.operation.path ? match : undefined),
    decodeParameters: () => ({ values: exchangeWith().values(), violations: [], reported: [] }),
  } as unknown as CompiledGateway['contract'];
  const { contract = fakeContract, plans = new Map([[plan.operation.id, plan]]) } = parts;
  const { checks = MODES.strict.checks } = parts;
  const passed = parts.passed ?? (() => ({ status: 299, headers: [], body: Buffer.from('passed'), attempts: 1 }));
  const { upstream, sent } = fakeExchanges(passed);
  const gateway: CompiledGateway = {
    basePath: PROFILE.basePath,
    contract,
    plans,
    recompile: () => undefined,
    mayUse: () => false,
    checks,
    undocumented: compileUndocumentedPlan({
      checks,
      transparent: false,
      allow: [{ method: '*', path: '/**', permission: 'any' }],
      rewriteUrls: false,
      legacy: compileLegacyAddresses({ origin: 'http://upstream.example', basePath: '' }, []),
      publicAddress: () => 'http://public.example',
      sessions: createSessions([], () => 1_000),
      access: {
        decidePermission: (...asked) => gateway.decidePermission(...asked),
        grantsOf: (...asked) => gateway.grantsOf(...asked),
        challenge: 'Basic realm="test"',
        serviceCredential: parts.serviceCredential ?? false,
      },
      upstream,
      clock: () => 1_000,
      purge: () => undefined,
      purgedBy: () => undefined,
    }),
    authenticator: {
      authenticate: (input) => {
        authenticated.push(input);
        return authenticate(input);
      },
      forget: () => undefined,
      expireCallers: () => undefined,
      calibrate: () => Promise.resolve({ kind: 'calibrated' }),
      precededBy: () => gateway.authenticator,
    },
    targets: createTargets({
      contract,
      plans,
      undocumented: (...asked) => {
        judged.push(asked);
        return parts.verdict ?? { pass: false, code: 'not_in_contract', allow: [] };
      },
      maxBytes: 10_000,
    }),
    pathTemplate: compilePathTemplate([], PROFILE).of,
    suggestPath: () => undefined,
    grantsOf: () => grantsWith(),
    guard: { isDemoted: () => false },
    decidePermission: () => ({ verdict: 'allowed', because: 'all' }),
    challenge: 'Basic realm="test"',
    clock: () => 1_000,
    ...parts,
  };
  return { gateway, next, plan, authenticated, judged, sent };
}

/** The parts of a fake gateway that tests inspect. */
export type FakeHouse = ReturnType<typeof gatewayWith> & { readonly next: FakeNext };
