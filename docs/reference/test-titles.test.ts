import { expect, test } from 'vitest';
import { titlesIn } from './test-titles.ts';

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

test('finds the titles of tests that run, and no others', () => {
  expect(titlesIn(SOURCE)).toEqual(['plain', 'a table: %s', 'E5: %s that throws', 'within what is on']);
});
