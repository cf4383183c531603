import FakeTimers from '@sinonjs/fake-timers';
import type { Random } from '../../src/defaults/random.ts';

/**
 * Simulated time around real sockets. Timers of the agent, its framework and its protection fire in their order, as soon as nothing is under way on
 * a socket. So a time-out of 30 s needs no 30 s, and the same seed gives the same run on each machine.
 */
export interface SimulatedTime {
  now(): number;
  /** Runs until the promise ends. One run at a time. */
  play<Result>(run: () => Promise<Result>): Promise<Result>;
  /** Counts real input and output as under way: time does not advance until it ends. */
  whileWaiting<Result>(work: () => Promise<Result>): Promise<Result>;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  end(): void;
}

const realImmediate = setImmediate;
const realRandom = Math.random;
/** Replaced once, before other modules take `Math.random` for themselves. */
let source = realRandom;
Math.random = () => source();
const nextTurn = (): Promise<void> => new Promise((resolve) => realImmediate(resolve));

/** Turns of the event loop in which nothing happens, before time passes. */
const QUIET_TURNS = 4;
const MOST_TIMERS = 200_000;

/** Replaces the timers, the clocks and `Math.random` of this process until `end`. */
export const simulatedTime = (random: Random): SimulatedTime => {
  const clock = FakeTimers.install({
    now: Date.UTC(2026, 4, 10),
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });
  source = random;
  let underWay = 0;
  const goOn = async (isOver: () => boolean): Promise<void> => {
    let quiet = 0;
    for (let fired = 0; !isOver(); ) {
      await nextTurn();
      quiet = underWay === 0 ? quiet + 1 : 0;
      if (quiet < QUIET_TURNS) continue;
      quiet = 0;
      fired += 1;
      if (clock.countTimers() === 0 || fired > MOST_TIMERS)
        throw new Error('The run waits for something that never comes.');
      clock.next();
    }
  };
  return {
    now: () => performance.now(),
    play: async (run) => {
      let isOver = false;
      const ended = run().finally(() => {
        isOver = true;
      });
      ended.catch(() => {});
      await goOn(() => isOver);
      return ended;
    },
    whileWaiting: async (work) => {
      underWay += 1;
      try {
        return await work();
      } finally {
        underWay -= 1;
      }
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const timer = setTimeout(() => {
          signal?.removeEventListener('abort', stop);
          resolve();
        }, ms);
        const stop = (): void => {
          clearTimeout(timer);
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', stop, { once: true });
      }),
    end: () => {
      clock.uninstall();
      source = realRandom;
    },
  };
};
