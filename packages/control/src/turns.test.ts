import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ownTurn } from './turns.ts';

test('A5: of requests that wait for the same thing, one is answered in each turn', async () => {
  let answered = 0;
  const all = Promise.all(
    Array.from({ length: 20 }, async () => {
      await ownTurn();
      answered += 1;
    }),
  );
  let most = 0;
  while (answered < 20) {
    const before = answered;
    await setImmediate();
    most = Math.max(most, answered - before);
  }
  await all;
  expect(most).toBeLessThanOrEqual(2); // The immediate of this test runs before or after the one of a turn.
});
