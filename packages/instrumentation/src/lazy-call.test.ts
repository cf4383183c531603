import { expect, test } from 'vitest';
import { type GuardedCall, guard } from './index.ts';
import { watchedSession } from './test-support/watched-session.ts';

const hang = (): Promise<never> => new Promise(() => {});

/** What a tool made of the call that it was given; it never comes back. */
const seenBy = (
  look: (call: GuardedCall) => unknown,
): { seen: unknown; caller: AbortController; call: Promise<never> } => {
  const { session } = watchedSession();
  const caller = new AbortController();
  let seen: unknown;
  const run = (...given: unknown[]): Promise<never> => {
    seen = look(given[1] as GuardedCall);
    return hang();
  };
  const call = guard(session, 'search', run)(1, { signal: caller.signal });
  call.catch(() => {});
  return { seen, caller, call };
};

/** A tool that names no second parameter gets it all the same. */
test.each<[string, (call: GuardedCall) => { signal: AbortSignal; permit: unknown }]>([
  ['reads it', ({ signal, permit }) => ({ signal, permit })],
  ['spreads it', (call) => ({ ...call })],
  ['copies it', (call) => Object.assign({}, call)],
  ['goes through its entries', (call) => Object.fromEntries(Object.entries(call)) as never],
  ['freezes it', (call) => Object.freeze(call)],
  ['destructures the rest', ({ permit, ...rest }) => ({ permit, ...rest })],
])('a tool that %s gets the one signal, and hears of the end by it', async (_, look) => {
  const { seen, caller, call } = seenBy(look);
  const { signal, permit } = seen as GuardedCall;
  expect(signal.aborted).toBe(false);
  expect(permit.decision).toBe('call');
  caller.abort(new Error('the user left'));
  await expect(call).rejects.toThrow('the user left');
  expect(signal.reason).toBe(caller.signal.reason);
});

test('who looks only when all is over finds a signal that has fired', async () => {
  const { seen, caller, call } = seenBy((given) => given);
  caller.abort();
  await expect(call).rejects.toBe(caller.signal.reason);
  const given = seen as GuardedCall;
  expect(given.signal.aborted).toBe(true);
  expect(given.signal).toBe(given.signal);
  expect(['signal' in given, Object.keys(given).toSorted()]).toEqual([true, ['permit', 'signal']]);
});
