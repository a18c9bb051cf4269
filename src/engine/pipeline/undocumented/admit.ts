import type { Arrival } from '../../model/arrival.ts';
import type { Violation } from '../../model/violation.ts';
import type { KnownRequest } from '../exchange.ts';
import type { CompiledGateway } from '../compiled-gateway.ts';
import { undocumentedRefusal } from '../request-refusal.ts';
import type { PassingVerdict, UndocumentedVerdict } from './verdict.ts';

/** Records the policy's verdict on a request for an undocumented path. Throws if the request is refused. */
export function admitUndocumented(
  gateway: Pick<CompiledGateway, 'basePath' | 'observeRequest' | 'checks' | 'pathTemplate' | 'suggestPath'>,
  { arrival, trace }: Pick<KnownRequest, 'arrival' | 'trace'>,
  verdict: UndocumentedVerdict,
): PassingVerdict {
  gateway.observeRequest?.(trace, arrival);
  const level = gateway.checks.undocumented;
  const documentedPath = verdict.pass ? verdict.documentedPath === true : verdict.code === 'method_not_allowed';
  if (!verdict.pass || verdict.reported)
    trace.violations.push(
      undocumented(placeOf(arrival, gateway.pathTemplate(arrival.path, false)), documentedPath, verdict.isDisabled),
    );
  trace.undocumented = {
    level,
    outcome: !verdict.pass ? 'refused' : verdict.reported ? 'reported' : level === 'off' ? 'skipped' : 'passed',
  };
  if (!verdict.pass)
    throw undocumentedRefusal(arrival, verdict.code, verdict.allow, {
      basePath: gateway.basePath,
      suggestion: gateway.suggestPath(arrival.path),
    });
  return verdict;
}

/**
 * Makes the location of a reported violation more precise after a successful response has shown that the path exists on
 * the upstream. A client can put anything, even people's names, into an invented path, but the first word of an
 * existing path is known to come from the server.
 */
export function nameExistingPath(
  { pathTemplate }: Pick<CompiledGateway, 'pathTemplate'>,
  { arrival, trace }: Pick<KnownRequest, 'arrival' | 'trace'>,
): void {
  const { violations } = trace;
  const index = violations.findIndex(({ check, candidate }) => check === 'undocumented' && candidate === undefined);
  const violation = violations[index];
  if (violation !== undefined)
    violations[index] = { ...violation, at: placeOf(arrival, pathTemplate(arrival.path, true)) };
}

const placeOf = ({ method }: Pick<Arrival, 'method'>, template: string) => `${method} ${template}`;

/** The message of the violation for a method of a disabled operation. */
export const DISABLED_METHOD = 'This method of the path is only inferred, and contract.inferred is off.';

/**
 * Returns the violation for an undocumented path. The violation's location consists of the method and the path with
 * placeholders, and can be copied to `undocumented.allow`.
 */
function undocumented(at: string, documentedPath: boolean, isDisabled = false): Violation {
  return {
    check: 'undocumented',
    direction: 'request',
    category: 'not-allowed',
    location: documentedPath ? 'method' : 'path',
    at,
    keyword: documentedPath ? 'method' : 'path',
    schemaPath: '',
    message: isDisabled
      ? DISABLED_METHOD
      : documentedPath
        ? 'The contract has this path, but not this method.'
        : 'The contract does not have this path.',
  };
}
