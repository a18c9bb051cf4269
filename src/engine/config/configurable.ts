import type { Static, TSchema } from 'typebox';
import { pointerTo } from '../../lib/json-pointer.ts';
import { isPlainObject, type PlainObject } from '../../lib/plain-object.ts';
import { isSecretSetting } from '../privacy/secret-text.ts';
import type { Configurable, Configured, Settings } from './settings.ts';

/** Returns the options of a feature, or undefined if it is off. Throws if the settings were read without the feature. */
export function optionsOf<Options extends TSchema>(
  { features }: Pick<Settings, 'features'>,
  configurable: Pick<Configurable<Options>, 'name'>,
): Static<Options> | undefined {
  const found = features.find((one) => one.configurable.name === configurable.name);
  if (found === undefined) throw new Error(`the settings were read without ${configurable.name}`);
  return found.options as Static<Options>;
}

/** Returns the JSON pointer to a feature's key, or to one of its options. */
export const pointerOf = ({ name }: Pick<Configurable, 'name'>, ...option: readonly string[]): string =>
  pointerTo([...name.split('.'), ...option]);

/** Returns the features that are on. A feature without default options is on only if its key is set. */
export const featuresInUse = ({ features }: Pick<Settings, 'features'>): readonly Configured[] =>
  features.filter(({ options }) => options !== undefined);

/** Returns whether the value of a setting is a secret. `key` is the dotted key of the setting, such as `adminToken`. */
export function isSecret(key: string, value: unknown, features: readonly Configurable[]): boolean {
  const ofFeature = features.some(({ name, secretOptions = [] }) =>
    secretOptions.some((one) => key === `${name}.${one}`),
  );
  return ofFeature || isSecretSetting(key, value);
}

/** Returns a configured value with the defaults of its schema. The value must be valid. */
export function withSchemaDefaults(schema: PlainObject, value: unknown): unknown {
  const given = value === undefined ? schema['default'] : value;
  if (Array.isArray(given)) {
    const { items } = schema;
    return isPlainObject(items) ? given.map((one) => withSchemaDefaults(items, one)) : given;
  }
  const { properties } = schema;
  if (!isPlainObject(given) || !isPlainObject(properties)) return given;
  const filled = Object.entries(properties).flatMap(([key, property]) => {
    const member = isPlainObject(property) ? withSchemaDefaults(property, given[key]) : given[key];
    return member === undefined ? [] : [[key, member]];
  });
  return { ...given, ...(Object.fromEntries(filled) as PlainObject) };
}

/** Returns a copy of a schema in which properties with defaults are not required, as in a configuration file. */
export function asFileSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(asFileSchema);
  if (!isPlainObject(schema)) return schema;
  const { properties, required } = schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, asFileSchema(value)]));
  if (!isPlainObject(properties) || !Array.isArray(required)) return copy;
  const isMissed = (name: unknown) => {
    const property = properties[String(name)];
    return !isPlainObject(property) || property['default'] === undefined;
  };
  const { required: _, ...rest } = copy;
  const still = required.filter(isMissed);
  return still.length === 0 ? rest : { ...rest, required: still };
}
