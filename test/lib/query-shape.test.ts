import { expect, it } from 'vitest';
import { queryShape } from '../../src/lib/query-shape.ts';

it.each([
  ['page=1&sort=newest', 'page&sort'],
  ['page=1&include=a,b&x', 'page&include=a,b&x'],
  ['includ%65=a&page=%31', 'includ%65=a&page'],
  ['=1&&a=b=c', '&&a'],
  ['', ''],
])('the shape of %j has only the values that matter', (query, shape) => {
  expect(queryShape(query, new Set(['include']))).toBe(shape);
});
