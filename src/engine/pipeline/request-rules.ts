import type { CheckRequestBody, RequestRule, RuleFindings } from '../contract/rules.ts';
import type { Operation } from '../model/operation.ts';
import { isAdvisory, type Violation } from '../model/violation.ts';
import type { FetchJson } from '../permissions/ownership.ts';
import type { Exchange } from './exchange.ts';
import { toDetail } from './request-refusal.ts';
import type { PlannedOperation } from './stage.ts';

/** The result of checking a request body: its violations, and the code and details to use for a refusal. */
export interface BodyFindings extends RuleFindings {
  /** Violations that are counted but never cause a refusal, because they are all due to undocumented members. */
  readonly reported?: readonly Violation[];
}

/** Checks a parsed request body against the operation's schema and the rules that a schema cannot express. */
export type CheckBody = (body: unknown, exchange: Exchange) => Promise<BodyFindings> | BodyFindings;

/** The check of an operation's request bodies. */
export interface BodyCheck {
  readonly check: CheckBody;
  /** True if the check recognizes repeated bodies. It then runs even if the `requests` check is off. */
  readonly identifies: boolean;
}

/**
 * Returns the check of an operation's request bodies. Called once per operation, before the first request.
 */
export type PlanBodyCheck = (planned: PlannedOperation) => BodyCheck;

/** The services used to check request bodies. */
interface CheckBodyServices {
  /** Returns the options under a configuration key. */
  readonly optionsOf: (key: string) => unknown;
  /** The rules that the contract can name. */
  readonly rules: readonly RequestRule[];
  readonly schema: (operation: Operation, body: unknown) => readonly Violation[];
  readonly hasPermission: (exchange: Exchange, permission: string) => boolean;
  readonly lookUp: FetchJson;
}

/**
 * Creates the function that plans the check of an operation's request bodies: first against the schema and then against
 * the rules that a schema cannot express.
 */
export function createCheckBody(services: CheckBodyServices): PlanBodyCheck {
  const { optionsOf, schema, hasPermission, lookUp } = services;
  return ({ operation, checks }) => {
    const named = operation.requestRules.flatMap((name) => services.rules.find((rule) => rule.name === name) ?? []);
    const rules = named.map((rule) =>
      rule.plan(rule.optionsKey === undefined ? undefined : optionsOf(rule.optionsKey), checks),
    );
    return {
      identifies: named.some(({ identifies }) => identifies),
      async check(body, exchange) {
        const found = schema(operation, body);
        const violations = found.filter((violation) => !isAdvisory(violation));
        const advisories = found.filter(isAdvisory);
        const reported = advisories.length === 0 ? {} : { reported: advisories };
        if (violations.length > 0) return { violations, ...reported };
        const request = {
          parameters: exchange.values,
          // If only the upstream knows the caller's permissions, the decision is left to the upstream.
          mayUse: (permission: string) => exchange.delegated || hasPermission(exchange, permission),
          lookUp: (target: string) => lookUp(target, exchange.principal),
        };
        return { ...reported, ...(await ruleFindings(rules, body, request)) };
      },
    };
  };
}

/** Runs all rules in order. If several rules find violations, the first of these rules determines the error code. */
async function ruleFindings(
  rules: readonly CheckRequestBody[],
  body: unknown,
  request: Parameters<CheckRequestBody>[1],
): Promise<RuleFindings> {
  const found: RuleFindings[] = [];
  for (const rule of rules) {
    const findings = await rule(body, request);
    found.push(findings);
  }
  const code = found.find(({ violations }) => violations.length > 0)?.code;
  const identity = found.find((one) => one.identity !== undefined)?.identity;
  const forwarded = found.find((one) => one.forwarded !== undefined)?.forwarded;
  const hasDetails = found.some(({ details }) => details !== undefined);
  return {
    violations: found.flatMap(({ violations }) => violations),
    ...(code !== undefined && { code }),
    ...(identity !== undefined && { identity }),
    ...(forwarded !== undefined && { forwarded }),
    ...(hasDetails && { details: found.flatMap(({ violations, details }) => details ?? violations.map(toDetail)) }),
  };
}
