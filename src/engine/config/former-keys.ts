import { keysOf, pointerTo, valueAt } from '../../lib/json-pointer.ts';
import { isPlainObject, type PlainObject, withoutValueAt, withValueAt } from '../../lib/plain-object.ts';
import { pointerOf } from './configurable.ts';
import type { Product } from './product.ts';
import type { RenamedKey } from './settings.ts';

/** A configuration file whose keys are those of this version. */
interface CurrentKeys {
  readonly value: PlainObject;
  readonly renamed: readonly RenamedKey[];
  /** Returns where the file contains the value at a pointer. */
  writtenAt(pointer: string): string;
}

/** Replaces the keys of earlier versions with those of this version. */
export function withoutFormerKeys(given: PlainObject, { features }: Pick<Product, 'features'>): CurrentKeys {
  let value = given;
  const renamed: RenamedKey[] = [];
  for (const feature of features)
    for (const { from, to, convert = ([only]: readonly unknown[]) => only } of feature.formerKeys ?? []) {
      const pointers = from.map((key) => pointerTo(key.split('.')));
      const values = pointers.map((pointer) => valueAt(given, pointer));
      const target = pointerOf(feature, ...to.split('.'));
      const isSet = values.some((one) => one !== undefined);
      const isUsed = isSet && valueAt(given, target) === undefined;
      for (const [index, pointer] of pointers.entries())
        if (values[index] !== undefined) renamed.push({ from: pointer, to: target, value: values[index], isUsed });
      const converted = isUsed ? convert(values) : undefined;
      if (converted !== undefined) value = withValueAt(value, target, converted);
    }
  for (const { from } of renamed) value = withoutEmpty(withoutValueAt(value, from), from);
  const writtenAt = (pointer: string) => {
    const found = renamed.find(({ to, isUsed }) => isUsed && (pointer === to || pointer.startsWith(`${to}/`)));
    return found === undefined ? pointer : `${found.from}${pointer.slice(found.to.length)}`;
  };
  return { value, renamed, writtenAt };
}

/** Removes the section of a removed key if nothing else is in it. */
function withoutEmpty(value: PlainObject, removed: string): PlainObject {
  const section = pointerTo(keysOf(removed).slice(0, -1));
  const rest = valueAt(value, section);
  return section !== '' && isPlainObject(rest) && Object.keys(rest).length === 0
    ? withoutValueAt(value, section)
    : value;
}
