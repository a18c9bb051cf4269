import type { Observations } from './observations.ts';
import type { ObjectCounts, Shape } from '../shape/shape.ts';

/** How many named shapes observations hold, for the limit on them. */
export function countShapes({ open, described, mistyped, envelopes, paths }: Observations): number {
  const shapes = [
    ...open.values(),
    ...mistyped.values(),
    ...envelopes.values(),
    ...[...paths.values()].flatMap(({ body }) => body ?? []),
  ];
  const counts = [...described.values()].map(({ objects, missing }) => countMembers(objects) + missing.size);
  return shapes.length + sum(shapes.map(countBelow)) + sum(counts);
}

function countBelow({ arrays, objects }: Shape): number {
  return (arrays === undefined ? 0 : countBelow(arrays.items)) + (objects === undefined ? 0 : countMembers(objects));
}

function countMembers({ fields, rest, rare }: ObjectCounts): number {
  const others = [rest, rare].flatMap((shape) => shape ?? []);
  return fields.size + sum([...fields.values()].map(({ shape }) => countBelow(shape))) + sum(others.map(countBelow));
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
