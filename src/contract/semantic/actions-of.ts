import { type Item, itemsOf, toObject } from '../items-of.ts';

/** The actions in an answer: of the list (7), or the one that an unfavourite or unwikify tells of (11, 12). */
export function actionsOf(json: unknown): Item[] {
  const result = toObject(toObject(json)?.['result']);
  const single = ['favoriteAction', 'wikifyAction'].flatMap((name) => {
    const value = toObject(result?.[name]);
    return value ? [{ at: `/result/${name}`, value }] : [];
  });
  return [...itemsOf('actions', json), ...single];
}
