import { expect, it } from 'vitest';
import { addressOf } from '../../../src/features/console/upstream-view.ts';

it.each([
  ['http://qa.example:8080/legacy/', 'http://qa.example:8080/legacy'],
  ['https://name:password@qa.example/?token=secret#part', 'https://qa.example'],
  ['not an address', ''],
  [undefined, ''],
])('the address of the upstream is shown without credentials: %s', (url, shown) => {
  expect(addressOf(url)).toBe(shown);
});
