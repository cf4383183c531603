import { safely } from './telemetry/safely.ts';

/** How fit a tool is said to be before it is called (K1), best first. */
export const AVAILABILITIES = ['available', 'degraded', 'unavailable'] as const;

/**
 * | score | what it does |
 * |---|---|
 * | `available` | nothing |
 * | `degraded` | the tool is called, and its circuit opens one failure earlier |
 * | `unavailable` | the tool isn't called; circuit, budget and probes are left alone |
 */
export type Availability = (typeof AVAILABILITIES)[number];

/**
 * Scores a tool before it is called (K1). Advice: it may answer late, throw or hang, and the tool counts as available then
 * (K2). It should end by itself in the time that it is given, because a check can't be stopped from outside.
 *
 * @example
 * ```ts
 * const precheck: Precheck = async () => ((await queue.depth()) > 1_000 ? 'degraded' : 'available');
 * ```
 */
export type Precheck = (tool: string) => Availability | PromiseLike<Availability>;

/** The latest score of each tool. No method throws, and only `refresh` waits. */
export interface PrecheckBoard {
  /**
   * The tool's score now, for a decision: at once. Starts a check where the score is too old and none is under way; one
   * that answers at once counts at once. `ms` is monotonic.
   */
  availability(tool: string, check: Precheck, ms: number): Availability;
  /** The same for readers, who start nothing and change nothing (C11). */
  peek(tool: string, ms: number): Availability;
  /**
   * Checks all anew, side by side, joins those that are under way, and waits for their answers, `timeoutMs` of real time at
   * most: what hasn't answered then counts as available. Never rejects. Its timer keeps no process alive.
   */
  refresh(checks: Iterable<readonly [tool: string, check: Precheck]>, now: () => number): Promise<void>;
  /** Drops all scores (S5); what is under way counts for nothing. */
  forget(): void;
}

/** What a board is made of. */
export interface PrecheckBoardOptions {
  /** Milliseconds after which a score is checked again (K3). It stands meanwhile, up to twice that age. */
  readonly maxAgeMs: number;
  /** Milliseconds that a check may take. Default 5,000; never more than `maxAgeMs`, or answers would be old when they come. */
  readonly timeoutMs?: number;
  /** Told of each answer, and of what is taken for one: `available` for a check that threw or ran out of time. */
  readonly onScore: (tool: string, availability: Availability) => void;
}

const TIMEOUT_MS = 5_000;

/** A check under way. */
interface Run {
  readonly startMs: number;
  /** Resolves when it has ended, by its answer or by ours. */
  readonly ended: Promise<void>;
  readonly end: () => void;
}

interface Entry {
  /** What it was at that time; undefined before the first answer. An answer is as old as its question. */
  score: { readonly availability: Availability; readonly ms: number } | undefined;
  /** One at a time. An answer counts as long as its run is still the one. */
  run: Run | undefined;
}

export const createPrecheckBoard = ({ maxAgeMs, timeoutMs, onScore }: PrecheckBoardOptions): PrecheckBoard => {
  const limitMs = Math.min(timeoutMs ?? TIMEOUT_MS, maxAgeMs);
  const entries = new Map<string, Entry>();

  const entryOf = (tool: string): Entry => {
    const found = entries.get(tool);
    if (found !== undefined) return found;
    const entry: Entry = { score: undefined, run: undefined };
    entries.set(tool, entry);
    return entry;
  };

  /** An answer; late ones, whose run isn't the one any more, change nothing. */
  const settle = (tool: string, entry: Entry, run: Run, answer: () => Availability, ms: number): void => {
    if (entry.run !== run) return;
    entry.run = undefined;
    const availability = safely(`the pre-call check of '${tool}'`, answer) ?? 'available'; // K2
    entry.score = { availability, ms };
    safely('the observer of pre-call checks', () => onScore(tool, availability));
    run.end();
  };

  const giveUp = (tool: string, entry: Entry, run: Run, ms: number): void =>
    settle(tool, entry, run, () => fail(`it didn't answer within ${limitMs} ms`), ms);

  const start = (tool: string, entry: Entry, check: Precheck, ms: number): void => {
    const { promise, resolve } = withResolvers();
    const run: Run = { startMs: ms, ended: promise, end: resolve };
    // Before the check runs: one that asks the session about its own tool must not start itself again.
    entry.run = run;
    try {
      const answer: unknown = check(tool);
      if (isAvailability(answer)) settle(tool, entry, run, () => answer, ms);
      else {
        Promise.resolve(answer).then(
          (late) => settle(tool, entry, run, () => asAvailability(late), ms),
          (error) => settle(tool, entry, run, () => rethrow(error), ms),
        );
      }
    } catch (error) {
      settle(tool, entry, run, () => rethrow(error), ms);
    }
  };

  /** The run that has had its time. */
  const lateRun = ({ run }: Entry, ms: number): Run | undefined =>
    run !== undefined && ms - run.startMs >= limitMs ? run : undefined;

  const scoreOf = (entry: Entry | undefined, ms: number): Availability => {
    // K2, K3: nobody knows, or nobody could say in time.
    if (entry?.score === undefined || lateRun(entry, ms) !== undefined || ms - entry.score.ms >= 2 * maxAgeMs)
      return 'available';
    return entry.score.availability;
  };

  const giveUpIfLate = (tool: string, entry: Entry, ms: number): void => {
    const late = lateRun(entry, ms);
    if (late !== undefined) giveUp(tool, entry, late, ms);
  };

  return {
    availability: (tool, check, ms) => {
      const entry = entryOf(tool);
      giveUpIfLate(tool, entry, ms);
      const isDue = entry.score === undefined || ms - entry.score.ms > maxAgeMs;
      if (isDue && entry.run === undefined) start(tool, entry, check, ms);
      return scoreOf(entry, ms);
    },

    peek: (tool, ms) => scoreOf(entries.get(tool), ms),

    refresh: async (checks, now) => {
      const started = Array.from(checks, ([tool, check]) => {
        const entry = entryOf(tool);
        giveUpIfLate(tool, entry, now());
        if (entry.run === undefined) start(tool, entry, check, now());
        return { tool, entry, run: entry.run };
      });
      const waiting = started.flatMap(({ tool, entry, run }) => (run === undefined ? [] : [{ tool, entry, run }]));
      if (waiting.length === 0) return;
      const { promise: timeIsUp, resolve } = withResolvers();
      const timer = setTimeout(resolve, limitMs);
      timer.unref?.(); // C10; outside Node timers are numbers.
      await Promise.race([timeIsUp, Promise.all(waiting.map(({ run }) => run.ended))]);
      clearTimeout(timer);
      for (const { tool, entry, run } of waiting) giveUp(tool, entry, run, now());
    },

    forget: () => {
      for (const entry of entries.values()) {
        entry.run?.end();
        entry.run = undefined;
      }
      entries.clear();
    },
  };
};

const isAvailability = (value: unknown): value is Availability => AVAILABILITIES.includes(value as Availability);

const asAvailability = (value: unknown): Availability =>
  isAvailability(value) ? value : fail(`it gave no score. Give one of ${AVAILABILITIES.join(', ')}`);

/** Told through `diag`: a check that always fails would otherwise pass for one that finds all well. */
const fail = (why: string): never => {
  throw new Error(`The tool counts as available: ${why}.`);
};

const rethrow = (error: unknown): never => {
  throw error;
};

const withResolvers = (): { promise: Promise<void>; resolve: () => void } => {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
};
