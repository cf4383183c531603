import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PARENT_VARIABLE, watchParent } from './parent-watch.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Watches with this value of the variable, and then lets the parent die. Returns how often onGone was called before and after. */
const calls = (value: string | undefined): readonly [before: number, after: number] => {
  const onGone = vi.fn();
  watchParent(onGone, { [PARENT_VARIABLE]: value });
  vi.advanceTimersByTime(60_000);
  const before = onGone.mock.calls.length;
  vi.spyOn(process, 'ppid', 'get').mockReturnValue(1);
  vi.advanceTimersByTime(60_000);
  return [before, onGone.mock.calls.length];
};

test('calls onGone once when the named parent is gone', () => {
  expect(calls(String(process.ppid))).toEqual([0, 1]);
});

test('checks each second', () => {
  const onGone = vi.fn();
  watchParent(onGone, { [PARENT_VARIABLE]: String(process.ppid) });
  vi.spyOn(process, 'ppid', 'get').mockReturnValue(1);
  vi.advanceTimersByTime(1000);
  expect(onGone).toHaveBeenCalledOnce();
});

test.each([
  ['no variable', undefined],
  ['an empty variable', ' '],
  ['not a process id', 'npm'],
  ['a process group', '-5'],
  ['a process that is not the parent', String(process.pid)],
])('does not watch: %s', (_, value) => {
  expect(calls(value)).toEqual([0, 0]);
});

test('calls onGone at once if the parent is already gone', async () => {
  const gone = spawn(process.execPath, ['-e', '']);
  await once(gone, 'exit');
  expect(calls(String(gone.pid))).toEqual([1, 1]);
});
