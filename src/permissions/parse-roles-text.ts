import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { parseDocument } from 'yaml';
import type { Fault } from '../model/fault.ts';
import { closestName } from '../lib/closest-name.ts';
import { escapePointer } from '../lib/json-pointer.ts';
import { rolesFileSchema } from './roles-file-schema.ts';

/** The roles file as it is written, once its shape is known to be right. */
export interface RawRoles {
  readonly unmapped?: string;
  readonly groups?: readonly string[];
  readonly flags?: readonly string[];
  readonly roles: Readonly<
    Record<string, { readonly inherits?: readonly string[]; readonly permissions?: readonly string[] }>
  >;
  readonly accounts?: readonly {
    readonly name: string;
    readonly roles: readonly string[];
    readonly groups?: readonly string[];
    readonly flags?: readonly string[];
    readonly demo?: boolean;
    readonly passwordHash?: string;
  }[];
}

/** The text as data, or everything that is wrong with its syntax and shape. */
export type ParsedRoles =
  | { readonly raw: RawRoles; readonly faults: readonly [] }
  | { readonly raw: undefined; readonly faults: readonly Fault[] };

/** Reads YAML and holds it against the schema; messages never quote the text, which holds password hashes. */
export function parseRolesText(text: string, source: string): ParsedRoles {
  const document = parseDocument(text);
  const broken = document.errors.map(({ code, linePos: [at] = [{ line: 1, col: 1 }] }): Fault => {
    const what = code.toLowerCase().replaceAll('_', ' ');
    return { source, pointer: '', message: `line ${at.line}, column ${at.col}: ${what}` };
  });
  if (broken.length > 0) return { raw: undefined, faults: broken };
  let data: unknown;
  try {
    data = document.toJS({ maxAliasCount: 100 });
  } catch {
    return {
      raw: undefined,
      faults: [{ source, pointer: '', message: 'an alias that leads nowhere, or too many of them' }],
    };
  }
  // Compiled here and not once: the file is read at start only.
  // Its schema is a constant that a test holds against the meta-schema, which takes longer to compile than it does.
  const constant = { validateSchema: false, meta: false, code: { optimize: false } };
  const validate = new Ajv2020({ allErrors: true, ownProperties: true, verbose: true, ...constant }).compile<RawRoles>(
    rolesFileSchema,
  );
  if (validate(data)) return { raw: data, faults: [] };
  return { raw: undefined, faults: (validate.errors ?? []).map((error) => toFault(error, source)) };
}

function toFault(error: ErrorObject, source: string): Fault {
  const { instancePath, params, keyword, parentSchema, message = 'is not as the schema says' } = error;
  const unknown: unknown = params['additionalProperty'];
  if (typeof unknown !== 'string') return { source, pointer: instancePath, message: `${message} (${keyword})` };
  const known = Object.keys((parentSchema?.['properties'] ?? {}) as object);
  const suggestion = closestName(unknown, known) ?? `one of ${known.join(', ')}`;
  return { source, pointer: `${instancePath}/${escapePointer(unknown)}`, message: 'unknown key', suggestion };
}

/** A name as a part of a JSON pointer (RFC 6901, 3). */
