import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { inTurns, ownTurn } from './turns.ts';

test('A5: of requests that wait for the same thing, one is answered in each turn', async () => {
  let answered = 0;
  const all = Promise.all(
    Array.from({ length: 20 }, async () => {
      await ownTurn(() => false);
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

test('A5: requests whose clients have left keep no other one waiting', async () => {
  for (let count = 0; count < 1_000; count += 1) void ownTurn(() => true);
  let isAnswered = false;
  void ownTurn(() => false).then(() => {
    isAnswered = true;
  });
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  expect(isAnswered).toBe(true);
});

test('A5: long work that is alone has a turn of 5 ms each time', async () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const work = inTurns(
    (function* () {
      for (let part = 0; part < 300; part += 1) {
        now += 1;
        yield;
      }
    })(),
  );
  let most = 0;
  for (let before = 0; now < 300; before = now) {
    await setImmediate();
    most = Math.max(most, now - before);
  }
  await work;
  expect(most).toBeLessThanOrEqual(10);
});
