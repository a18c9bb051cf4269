import type { PathMatch } from '../../src/contract/paths.ts';
import type { AuthenticationInput, AuthenticationResult } from '../../src/identity/authenticator.ts';
import { MODES } from '../../src/model/checks.ts';
import type { House } from '../../src/pipeline/house.ts';
import type { Plan } from '../../src/pipeline/plan.ts';
import { createTargets } from '../../src/pipeline/targets.ts';
import type { UndocumentedPolicy, UndocumentedVerdict } from '../../src/pipeline/undocumented-policy.ts';
import { callerNamed, createNext, exchangeWith, type FakeNext, grantsWith, plannedWith } from './exchange.ts';

/** What a test chooses of a house. */
export interface HouseParts extends Partial<House> {
  /** What its one plan is; undefined for a house that documents nothing. */
  readonly plan?: Partial<Plan> | undefined;
  readonly authenticate?: (input: AuthenticationInput) => AuthenticationResult | Promise<AuthenticationResult>;
  readonly verdict?: UndocumentedVerdict;
  readonly match?: Partial<PathMatch>;
}

/** A house with one documented list, whose plan is a fake; everything else is undocumented. */
export function houseWith({ plan: planParts = {}, ...parts }: HouseParts = {}) {
  const next = createNext();
  const planned = plannedWith();
  const plan: Plan = { ...planned, stages: ['forward'], handle: next.handle, ...planParts };
  const authenticated: AuthenticationInput[] = [];
  const judged: Parameters<UndocumentedPolicy>[] = [];
  const principal = callerNamed('alice');
  const passed = { level: 'enforce', outcome: 'passed', principal: 'verified' } as const;
  const authenticate = parts.authenticate ?? (() => Promise.resolve({ principal, trace: passed }));
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
  } as unknown as House['contract'];
  const { contract = fakeContract, plans = new Map([[plan.operation.id, plan]]) } = parts;
  const house: House = {
    contract,
    plans,
    checks: MODES.strict.checks,
    authenticator: {
      authenticate: (input) => {
        authenticated.push(input);
        return authenticate(input);
      },
      forget: () => undefined,
      calibrate: () => Promise.resolve({ kind: 'calibrated' }),
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
    anonymous: 'deny',
    grantsOf: () => grantsWith(),
    audienceOf: (_plan, { audience }) => `caller:${audience}`,
    decidePermission: () => ({ verdict: 'allowed', because: 'all' }),
    serviceCredential: false,
    challenge: 'Basic realm="test"',
    clock: () => 1_000,
    ...parts,
  };
  return { house, next, plan, authenticated, judged };
}

/** The parts of a fake house that tests look into. */
export type FakeHouse = ReturnType<typeof houseWith> & { readonly next: FakeNext };
