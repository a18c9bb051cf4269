import { expect, it } from 'vitest';
import { closestName } from '../../src/lib/closest-name.ts';

const known = ['page', 'pageSize', 'spaceId', 'sort', 'q', 'type', 'responses', 'PORT', 'pageBounds'];

it.each([
  ['space', 'spaceId'],
  ['pagesize', 'pageSize'],
  ['srot', 'sort'],
  ['sorts', 'sort'],
  ['respones', 'responses'],
  ['port', 'PORT'],
  ['pagebound', 'pageBounds'],
  ['nope', undefined],
  ['zebra', undefined],
  ['x', undefined],
  ['', undefined],
  ['x'.repeat(101), undefined],
])('the closest name to %s is %s', (written, meant) => {
  expect(closestName(written, known)).toBe(meant);
});
