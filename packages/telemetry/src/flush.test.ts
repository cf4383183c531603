import { diag } from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { lost, stillWaiting, withinLimit } from './exit.ts';
import { collectDiag } from './test-support/diag-messages.ts';

afterEach(() => diag.disable());

const never = new Promise<void>(() => {});

test('a flush in a process that goes on says once a minute that telemetry waits, and not that it is lost', async () => {
  const messages = collectDiag();
  let ms = 0;
  const tell = stillWaiting(
    () => '3 spans',
    () => ms,
  );
  for (ms of [0, 59_999, 60_000]) expect(await withinLimit(never, tell, 1)).toBe(false);
  expect(messages).toHaveLength(2);
  expect(messages[0]).toContain('What waits is sent when the backend answers: 3 spans.');
  expect(messages.join()).not.toContain('lost');
});

test('at the end it is lost', async () => {
  const messages = collectDiag();
  expect(
    await withinLimit(
      never,
      lost(() => '3 spans'),
      1,
    ),
  ).toBe(false);
  expect(messages).toEqual([expect.stringContaining('so it is lost: 3 spans')]);
});
