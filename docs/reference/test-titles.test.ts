import { expect, test } from 'vitest';
import { hasTest, titlesIn } from './test-titles.ts';

const SOURCE = `
// test('in a comment', () => {});
/* test('in another', () => {}); */
console.log('printed');
test('plain', () => {});
test.concurrent.each([['a case', 1], ["another one", 2]])('a table: %s', () => {});
it.each(Object.entries({ named: 1 }))('E5: %s that throws', () => {});
test.${'skip'}('skipped', () => {});
test.runIf(false)('now and then', () => {});
describe.${'skip'}('off', () => { test('within what is off', () => {}); });
describe.each([1])('on', () => { test('within what is on', () => {}); });
`;

test.each([
  ['plain', true],
  ['a table: a case', true],
  ['a table: another one', true],
  ['E5: named that throws', true],
  ['within what is on', true],
  ['a table: no case', false],
  ['a table: %s', false],
  ['in a comment', false],
  ['in another', false],
  ['printed', false],
  ['skipped', false],
  ['now and then', false],
  ['within what is off', false],
])('%s: %s', (title, runs) => {
  expect(hasTest(titlesIn(SOURCE), title)).toBe(runs);
});
