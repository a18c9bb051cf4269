import type { Contract } from '../engine/contract/load-contract.ts';
import { type ParameterObject, resolve } from '../engine/contract/openapi-document.ts';
import type { ParameterValues } from '../engine/contract/values.ts';
import type { Operation } from '../engine/model/operation.ts';
import { containsCredential } from '../engine/privacy/secret-text.ts';
import type { Identities } from './identities.ts';

/** What a target requests. */
export interface ReadTarget {
  /** Undefined if the path is not in the contract, or has no operation with GET. */
  readonly operation: Operation | undefined;
  readonly parameters: ParameterValues | undefined;
  /** True if a parameter that is not in the contract contains a credential, which must not reach another server. */
  readonly hasCredential: boolean;
  /** Returns the target on the new server, or undefined if an id in it has no known counterpart. */
  toNew(ids: Identities): string | undefined;
}

/** Creates a function that reads targets and translates the ids in them. */
export function createTargetReader(contract: Contract): (target: string) => ReadTarget {
  const spaces = parameterSpaces(contract);
  return (target) => {
    const mark = target.indexOf('?');
    const [path, query] = mark < 0 ? [target, undefined] : [target.slice(0, mark), target.slice(mark + 1)];
    const match = contract.match(path);
    const operation = match?.byMethod.get('GET');
    const own = spaces.get(operation?.id ?? '') ?? NO_PARAMETERS;
    const hasCredential = [...new URLSearchParams(query)].some(
      ([name, value]) => !own.has(name) && containsCredential(`${name}=${value}`),
    );
    if (match === undefined || operation === undefined)
      return { operation: undefined, parameters: undefined, hasCredential, toNew: () => target };
    const { values } = contract.decodeParameters(operation, match, query);
    return {
      operation,
      parameters: values,
      hasCredential,
      toNew(ids) {
        if (ids.mode === 'same') return target;
        let known = true;
        const translate = (name: string, raw: string): string => {
          const space = own.get(name);
          // Only digits can be an id that a response has shown.
          if (space === undefined || !/^\d{1,19}$/.test(raw)) return raw;
          const other = ids.toNew(space, raw);
          if (other === undefined) known = false;
          return other ?? raw;
        };
        const newPath = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
          translate(name, match.rawParameters[name] ?? ''),
        );
        const newQuery = query
          ?.split('&')
          .map((one) => {
            const at = one.indexOf('=');
            return at < 0 ? one : `${one.slice(0, at)}=${translate(one.slice(0, at), one.slice(at + 1))}`;
          })
          .join('&');
        return known ? `${newPath}${newQuery === undefined ? '' : `?${newQuery}`}` : undefined;
      },
    };
  };
}

/** The parameters of an operation. Those that are ids have the kind of the id as their value. */
type Parameters = ReadonlyMap<string, string | undefined>;

const NO_PARAMETERS: Parameters = new Map();

function parameterSpaces({ document }: Contract): ReadonlyMap<string, Parameters> {
  const found = new Map<string, Parameters>();
  for (const methods of Object.values(document.paths))
    for (const { operationId, parameters = [] } of Object.values(methods)) {
      const own = new Map<string, string | undefined>();
      for (const place of parameters) {
        const { name, schema } = resolve<ParameterObject>(document, 'parameters', place);
        const space = schema['x-identity'];
        own.set(name, typeof space === 'string' ? space : undefined);
      }
      found.set(operationId, own);
    }
  return found;
}
