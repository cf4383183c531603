import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startRedis } from '../../packages/fleet/src/redis/test-support.redis-server.ts';
import { COMPILE_CACHE } from '../compile-cache.ts';
import { answers, loopbackProvider, refuses } from './loopback-provider.ts';
import { errorBody } from './recordings.ts';

const PROGRAM = fileURLToPath(new URL('shared-program.ts', import.meta.url));

/** A process with two models, whose circuits it shares. */
interface Agent {
  say(message: 'ask' | 'force' | 'status'): Promise<string>;
}

const startAgent = async (...args: readonly string[]): Promise<Agent> => {
  const child: ChildProcess = fork(PROGRAM, args, {
    execArgv: ['--conditions=breakerbox-source'],
    env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, BREAKERBOX_WARNINGS: 'off', ...COMPILE_CACHE },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  return {
    say: async (message) => {
      const answer = once(child, 'message', { signal: AbortSignal.timeout(20_000) });
      child.send(message);
      const [said] = await answer;
      return `${said}`;
    },
  };
};

/** Asks again until the answer is as expected, for 15 s at most. */
const until = async (ask: () => Promise<string>, expected: RegExp): Promise<string> => {
  let said = '';
  for (let round = 0; round < 75; round += 1) {
    said = await ask();
    if (expected.test(said)) return said;
    await wait(200);
  }
  throw new Error(`Still: ${said}`);
};

test('L2, G2: two processes share what they know about models, by Redis', async () => {
  const [redis, primary, fallback] = await Promise.all([startRedis(), loopbackProvider(), loopbackProvider()]);
  onTestFinished(() => redis.stop());
  const [one, other] = await Promise.all([1, 2].map(() => startAgent(redis.url, primary.url, fallback.url)));
  if (one === undefined || other === undefined) throw new Error('no process');
  const isOpenForAll = /"name":"model:anthropic\/primary","state":"open"/;
  await until(() => other.say('status'), /"mode":"up"/);
  expect(await one.say('ask')).toBe('anthropic/primary');

  // An outage that the other process has not seen.
  primary.behave(refuses(529, errorBody('messages', 529, 'overloaded_error', 'Overloaded')));
  for (const _ of [1, 2]) expect(await one.say('ask')).toBe('anthropic/fallback');
  await until(() => other.say('status'), isOpenForAll);
  const calls = primary.calls.length;
  expect(calls).toBe(1 + 2);
  expect(await other.say('ask')).toBe('anthropic/fallback');
  expect(primary.calls.length).toBe(calls);

  // One process probes, and both call the first model again.
  primary.behave(answers);
  for (const agent of [one, other]) await until(() => agent.say('ask'), /primary/);

  // An operator's mode holds in both (G8).
  await one.say('force');
  primary.behave(refuses(529, errorBody('messages', 529, 'overloaded_error', 'Overloaded')));
  await until(() => other.say('ask'), /fallback is unavailable: its circuit is forced open/);
});
