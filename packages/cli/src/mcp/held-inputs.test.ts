import { expect, test } from 'vitest';
import { HeldInputs } from './held-inputs.ts';

test('too many arguments of calls under way are held as digests', () => {
  const held = new HeldInputs(10);
  const input = { q: 'text' };
  expect(held.hold(input, 8)).toEqual({ input, bytes: 8 });
  const second = held.hold(input, 8);
  expect(second).toEqual({ input: { digest: expect.stringMatching(/^[0-9a-f]{64}$/) }, bytes: 0 });
  expect(held.hold(input, 8)).toEqual(second);
  expect(held.hold({ q: 'other' }, 8)).not.toEqual(second);
  held.free(8);
  expect(held.hold(undefined, 10)).toEqual({ input: undefined, bytes: 10 });
  expect(held.hold(undefined, 1).bytes).toBe(0);
});
