import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { readOnly } from './cache/read-only-cache.ts';
import { arrivalOptions, createArrivalReader } from './http/arrival.ts';
import { requestHeadFault } from './http/malformed.ts';
import { createAuthorLookup, type FetchJson } from './permissions/ownership.ts';
import { explain, type ExplainStep } from './pipeline/explain.ts';
import { compilePlan, type Plan } from './pipeline/plan.ts';
import { type ExplainRequest, type DryRun, dryRunGateway, type Seen, SINK } from './pipeline/dry-run.ts';
import { stagePlanners } from './pipeline/stage-order.ts';
import { openTrustingAuthenticator } from './identity/open-authenticator.ts';
import type { KeyedHash } from './identity/verify-credential.ts';
import type { CompiledGateway } from './pipeline/compiled-gateway.ts';
import type { RunningFeatures } from './run-features.ts';
import {
  acceptedSchemes,
  disabledOperations,
  type PlanSources,
  stageServices,
  undocumentedPlan,
  verifiersOf,
} from './compile-gateway.ts';

/** What a dry run is made of: the configuration in use. */
export interface Explained extends PlanSources {
  readonly gateway: CompiledGateway;
  readonly features: RunningFeatures;
  readonly credentialHash: KeyedHash;
  /** What the gateway in front of the second upstream was compiled from. Undefined if there is only one upstream. */
  readonly second: PlanSources | undefined;
}

/**
 * Returns the steps that explain how the gateway would handle a request. The stages decide, but nothing that they do has
 * an effect: the upstream is not contacted, and nothing is counted, stored, purged or recorded.
 */
export function explainRequest(inUse: Explained, request: ExplainRequest): Promise<readonly ExplainStep[]> {
  return explain(dryRunOf(inUse), inUse.settings.mode.name, request);
}

function dryRunOf(inUse: Explained): DryRun {
  const { settings, start, gateway, features, clock } = inUse;
  const lookUps: string[] = [];
  const lookUp: FetchJson = (target) => {
    lookUps.push(target);
    return Promise.resolve(undefined);
  };
  const seen: Seen = {};
  const authenticator = openTrustingAuthenticator(settings, {
    roles: start.roles,
    clock,
    memory: { hash: inUse.credentialHash },
  }).precededBy(verifiersOf(settings, { verifiers: features.passiveVerifiers }));
  const dryRun = (one: CompiledGateway, of: PlanSources) => {
    const sources = withoutEffects(of, lookUp);
    const planners = stagePlanners(stageServices(sources, one), features.passive);
    const parts = {
      compile: (plan: Plan) => compilePlan(plan, planners),
      undocumented: undocumentedPlan(sources, features.passive, one),
      authenticator,
    };
    return dryRunGateway(one, parts, seen);
  };
  const { second } = gateway;
  return {
    gateway: {
      ...dryRun(gateway, inUse),
      second: second && inUse.second && Object.assign({}, second, { gateway: dryRun(second.gateway, inUse.second) }),
    },
    async arrive(request) {
      const message = messageOf(request);
      const fault = requestHeadFault(message);
      if (fault !== undefined) throw fault;
      const arrival = createArrivalReader(arrivalOptions(settings, clock))(message);
      arrival.checkExpectation();
      // The caller is assumed to have logged in before, so no stage finds the verification pending.
      const { authorization: authorizationHeader } = arrival;
      if (authorizationHeader !== undefined)
        await authenticator.authenticate({
          authorizationHeader,
          clientAddress: () => arrival.clientAddress,
          level: 'report',
          needsVerification: true,
          now: arrival.receivedAt,
        });
      return arrival;
    },
    accepted: [...new Set(acceptedSchemes(settings, features).map(({ name }) => name))],
    describe: features.describe,
    seen,
    lookUps,
    disabledOperations: disabledOperations(settings, start.contract.operations),
  };
}

const nothing = () => undefined;

/** Returns services that answer every question as the given services do, but do nothing. */
function withoutEffects(inUse: PlanSources, lookUp: FetchJson): PlanSources {
  const {
    settings,
    start,
    cache,
    guard,
    pageCounts: { counts, shared },
    ownership,
    sharedPages,
    upstream,
  } = inUse;
  const lookUpAuthor = createAuthorLookup(settings.permissions.ownership, lookUp);
  return {
    ...inUse,
    // No response is ever checked, so loading the scanner would be in vain.
    settings: { ...settings, contract: { ...settings.contract, scanner: false } },
    start: { ...start, sampling: undefined },
    upstream: { ...upstream, ...SINK },
    cache: readOnly(cache),
    sharedPages: {
      ...sharedPages,
      async claim(key, { longest }) {
        const found = await sharedPages.peek(key, longest);
        return { kind: found === undefined ? 'fetch' : 'page', shared: found, done: nothing };
      },
      put: nothing,
      outdated: nothing,
      drop: nothing,
    },
    guard: { ...guard, shouldCompare: () => false, compare: () => 'not comparable', demote: nothing },
    pageCounts: {
      counts: {
        ...counts,
        learned: (key) => counts.learned(key, true),
        learn: () => false,
        adopt: () => false,
        drop: nothing,
        dropAll: nothing,
      },
      shared: { ...shared, find: (key) => shared.find(key, true) },
    },
    ownership: {
      ...ownership,
      learn: nothing,
      of: (principal, nodeId) => ownership.of(principal, nodeId, lookUpAuthor),
    },
    lookUp,
    features: { levels: undefined, messages: {}, verifiers: [] },
    purge: () => 0,
    recordTrace: nothing,
  };
}

/** The client of an explained request: a connection from this machine. */
const CLIENT_ADDRESS = '127.0.0.1';

/** Returns the message that Node would pass to the public side. */
function messageOf({ method, target, as, token, password = '', headers = {}, body }: ExplainRequest): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: CLIENT_ADDRESS });
  const message = new IncomingMessage(socket);
  const pairs = Object.entries({
    Host: 'localhost',
    ...(as !== undefined && { Authorization: `Basic ${Buffer.from(`${as}:${password}`).toString('base64')}` }),
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
    ...headers,
  });
  message.method = method.toUpperCase();
  message.url = target;
  message.httpVersion = '1.1';
  message.rawHeaders = pairs.flat();
  message.headers = Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
  if (body !== undefined) message.push(body);
  message.push(null);
  message.complete = true;
  return message;
}
