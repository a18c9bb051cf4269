import type { Contract } from '../../engine/contract/load-contract.ts';
import type { SchemaObject } from '../../engine/contract/openapi-document.ts';
import { schemasOfValue } from '../../engine/contract/walk-schema.ts';
import type { ListChanges } from '../../engine/model/operation.ts';
import { isPlainObject, type PlainObject } from '../../lib/plain-object.ts';

/**
 * Returns a function that returns what subscribers receive of an item: a copy without the fields that the contract marks
 * as personal or private, and without those that `omit` names. A field that the contract does not describe is withheld if
 * it has the name of a personal or private one anywhere else.
 */
export function createShownItem(
  { document, personal, fieldPermissions }: Pick<Contract, 'document' | 'personal' | 'fieldPermissions'>,
  { item, omit }: Pick<ListChanges, 'item' | 'omit'>,
): (item: PlainObject) => unknown {
  const restricted = new Set(fieldPermissions.flatMap(({ fields }) => fields));
  const isWithheld = (name: string, schemas: readonly SchemaObject[]) =>
    restricted.has(name) ||
    (schemas.length === 0 ? personal.has(name) : schemas.some((one) => one['x-pii'] !== undefined || isPrivate(one)));
  const copy = (value: unknown, schemas: readonly SchemaObject[], omitted: readonly string[] = []): unknown => {
    if (Array.isArray(value)) {
      const elements = schemas.flatMap(({ items = true }) => schemasOfValue(document, items));
      return value.map((one) => copy(one, elements));
    }
    if (!isPlainObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => {
        if (omitted.includes(name)) return [];
        const own = schemas.flatMap(({ properties = {} }) =>
          Object.hasOwn(properties, name) ? schemasOfValue(document, properties[name] ?? true) : [],
        );
        return isWithheld(name, own) ? [] : [[name, copy(member, own)]];
      }),
    );
  };
  const schemas = schemasOfValue(document, { $ref: item });
  return (given) => copy(given, schemas, omit);
}

const isPrivate = (schema: SchemaObject) => schema['x-private-field'] === true;
