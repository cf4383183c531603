import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { safeJson } from '@breakerbox/core/internal';
import { createClient } from 'redis';
import { terminalSafe } from '../../../cli/src/command-io.ts';
import { freePort } from '../child.ts';
import { clockTime } from '../duration.ts';
import { DemoError } from '../errors.ts';
import { findRedis, redisListens, spawnRedis } from '../redis-server.ts';
import { startService } from '../services.ts';
import { startWatchdog } from '../watchdog.ts';
import { type AgentNotice, type AgentStart, createSharedStory, roundText, type SharedRound } from './shared-story.ts';

/** The options from the flags. */
export interface SharedDemoOptions {
  /** Milliseconds; undefined: until it is stopped. */
  readonly forMs: number | undefined;
  readonly json: boolean;
  /** How many times longer the tool works between two outages. */
  readonly pace: number;
  /** A Redis that runs already. Undefined: the demo starts its own. */
  readonly redisUrl: string | undefined;
}

/** What `npm run demo -- --fleet --json` prints. */
export interface SharedDemoReport {
  readonly processes: number;
  /** One for each outage that was over when the demo ended. */
  readonly outages: readonly SharedRound[];
}

const PROCESSES = 3;
/** Of the story's calm parts. */
const CALM_MS = 2_500;
const LOOK_MS = 50;
/** Longer than any part of the story takes, on a busy machine too. */
const PATIENCE_MS = 120_000;
const WHO_WIDTH = 10;
/** The program of a process, in the source or in what is published. */
const AGENT = fileURLToPath(new URL('shared-agent.ts', import.meta.url));

const MISSING =
  'the fleet needs redis-server, which is not on PATH. On Debian and Ubuntu: apt-get install redis-server. Elsewhere: put Redis 7 on PATH. Without --fleet, the demo needs no Redis.';

type Closers = (() => unknown)[];

const startServer = async (closers: Closers, lastMoment: (action: () => void) => void): Promise<string> => {
  const program = findRedis();
  if (program === undefined) throw new DemoError(MISSING);
  const folder = await mkdtemp(join(tmpdir(), 'breakerbox-demo-'));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const watchdog = startWatchdog(folder);
  closers.push(() => watchdog.close());
  const port = await freePort();
  const child = spawnRedis(program, { port, folder });
  if (child.pid !== undefined) watchdog.guard([child.pid]);
  closers.push(() => child.stop());
  lastMoment(() => child.kill());
  if (await redisListens(child, port)) return `redis://127.0.0.1:${port}`;
  throw new DemoError(`redis-server did not start: ${child.lastWords || 'it printed no error'}`);
};

/** Before the processes start: each of them would print the stack of the same error. */
const checkRedis = async (url: string): Promise<void> => {
  try {
    const client = createClient({ url, socket: { reconnectStrategy: false } });
    client.on('error', () => undefined); // `connect` rejects with it.
    await client.connect();
    await client.ping();
    client.destroy();
  } catch (error) {
    throw new DemoError(
      `Redis cannot be used at ${URL.parse(url)?.host ?? 'this address'}: ${(error as Error).message}. Check the address of --redis, its password and its database.`,
    );
  }
};

const stopAgent = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
};

/**
 * Plays outages of one tool that three processes share through a real Redis, until its time is over or `stop` fires, and leaves nothing
 * running.
 *
 * @throws DemoError for a fault that the user can fix.
 */
export const runSharedDemo = async (
  { forMs, json, ...options }: SharedDemoOptions,
  stop: AbortSignal,
  lastMoment: (action: () => void) => void,
): Promise<void> => {
  const closers: Closers = [];
  const timeIsUp = new AbortController();
  const signal = AbortSignal.any([stop, timeIsUp.signal]);
  const begun = performance.now();
  const now = (): number => performance.now() - begun;
  const say = (who: string, text: string): void => {
    if (!json) process.stdout.write(terminalSafe(`${clockTime(now())}  ${who.padEnd(WHO_WIDTH)}  ${text}\n`));
  };
  const story = createSharedStory(PROCESSES, { say, now });
  const over: SharedRound[] = [];
  /** Waits until something is so. Throws AbortError when the demo ends. */
  const until = async (what: string, isSo: () => boolean): Promise<void> => {
    const limit = now() + PATIENCE_MS;
    while (!isSo()) {
      if (now() > limit)
        throw new DemoError(
          `not within ${PATIENCE_MS / 1_000} s: ${what}. ${options.redisUrl === undefined ? 'The machine may be overloaded: start the demo again.' : 'Check that Redis answers at the address of --redis.'}`,
        );
      await wait(LOOK_MS, undefined, { signal });
    }
  };

  try {
    const redisUrl = options.redisUrl ?? (await startServer(closers, lastMoment));
    await checkRedis(redisUrl);
    say('redis', URL.parse(redisUrl)?.host ?? '');
    const service = await startService('search', (query) => ({ hits: [`about ${query.get('q')}`] }), { usualMs: 20 });
    closers.push(() => service.close());
    const start: AgentStart = { redisUrl, toolUrl: service.url };
    const working = new Set<string>();
    for (let number = 1; number <= PROCESSES; number += 1) {
      const name = `process ${number}`;
      const child = fork(AGENT, [JSON.stringify(start)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
      closers.push(() => stopAgent(child));
      lastMoment(() => child.kill('SIGKILL'));
      child.on('message', (notice: AgentNotice) => {
        working.add(name);
        story.hear(name, notice);
      });
    }
    await until('all processes call the tool', () => working.size === PROCESSES);
    say('all', `${PROCESSES} processes call web_search, and share its circuit`);
    if (forMs !== undefined) {
      const timer = setTimeout(() => timeIsUp.abort(), forMs);
      closers.push(() => clearTimeout(timer));
    }
    while (!signal.aborted) {
      await wait(CALM_MS * options.pace, undefined, { signal });
      story.begin();
      await service.break({ kind: 'refuse' });
      say('the tool', 'refuses connections from now on');
      await until('all circuits open', story.isOpen);
      await until('a probe fails', story.hasProbed);
      await service.repair();
      say('the tool', 'works again');
      await until('all circuits close', story.isOver);
      const round = story.rounds.at(-1);
      if (round === undefined) continue;
      over.push(round);
      say('all', roundText(round));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
  }
  const report: SharedDemoReport = { processes: PROCESSES, outages: over };
  if (json) process.stdout.write(`${safeJson(report, 2)}\n`);
  else say('all', `the demo is over: ${over.length} ${over.length === 1 ? 'outage' : 'outages'}`);
};
