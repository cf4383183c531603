import { safely } from './safely.ts';

/** The availability of a tool before it is called (K1), best first. */
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
 * Scores a tool before it is called. The score is advice: if the check answers late, throws or hangs, the tool counts as
 * available (K2). The check should end by itself within its time limit, because it can't be stopped from outside.
 *
 * @example
 * ```ts
 * const precheck: Precheck = async () => ((await queue.depth()) > 1_000 ? 'degraded' : 'available');
 * ```
 */
export type Precheck = (tool: string) => Availability | PromiseLike<Availability>;

/** The latest score of each tool. No method throws, and only `refresh` waits. */
export interface PrecheckCache {
  /**
   * The tool's current score, for a decision. Returns at once. Starts a check if the score is too old and no check is under way. A
   * check that answers synchronously counts at once. `ms` is monotonic.
   */
  availability(tool: string, check: Precheck, ms: number): Availability;
  /** The same for readers: starts no check and changes nothing (C11). */
  peek(tool: string, ms: number): Availability;
  /**
   * Runs all checks again in parallel, joins those that are under way, and waits for their answers, at most `timeoutMs` of real
   * time. A check that hasn't answered by then counts as available. Never rejects. Its timer does not keep the process alive.
   */
  refresh(checks: Iterable<readonly [tool: string, check: Precheck]>, now: () => number): Promise<void>;
  /** Drops all scores (S5). Answers of checks under way are ignored. */
  forget(): void;
}

export interface PrecheckCacheOptions {
  /**
   * Milliseconds after which a score is checked again (K3). The old score is used until the new one arrives, up to twice that age.
   */
  readonly maxAgeMs: number;
  /**
   * Time limit of a check, in milliseconds. Default 5,000, and never more than `maxAgeMs`, or answers would be too old when they
   * arrive.
   */
  readonly timeoutMs?: number;
  /** Called with each answer, and with `available` for a check that threw or timed out. */
  readonly onScore: (tool: string, availability: Availability) => void;
}

const TIMEOUT_MS = 5_000;

interface Run {
  readonly startMs: number;
  /** Resolves when the check has ended, by its answer or by the time limit. */
  readonly ended: Promise<void>;
  readonly end: () => void;
}

interface Entry {
  /** The latest score, with the time of its question; undefined before the first answer. */
  score: { readonly availability: Availability; readonly ms: number } | undefined;
  /** The check under way, one at a time. An answer counts only while its run is the current one. */
  run: Run | undefined;
}

export const createPrecheckCache = ({ maxAgeMs, timeoutMs, onScore }: PrecheckCacheOptions): PrecheckCache => {
  const limitMs = Math.min(timeoutMs ?? TIMEOUT_MS, maxAgeMs);
  const entries = new Map<string, Entry>();

  const entryOf = (tool: string): Entry => {
    const found = entries.get(tool);
    if (found !== undefined) return found;
    const entry: Entry = { score: undefined, run: undefined };
    entries.set(tool, entry);
    return entry;
  };

  /** Takes an answer. A late one, whose run isn't the current one, changes nothing. */
  const takeAnswer = (tool: string, entry: Entry, run: Run, answer: () => Availability, ms: number): void => {
    if (entry.run !== run) return;
    entry.run = undefined;
    const availability = safely(`the pre-call check of '${tool}'`, answer) ?? 'available'; // K2
    entry.score = { availability, ms };
    safely('the observer of pre-call checks', () => onScore(tool, availability));
    run.end();
  };

  const giveUp = (tool: string, entry: Entry, run: Run, ms: number): void =>
    takeAnswer(tool, entry, run, () => fail(`the check did not answer within ${limitMs} ms`), ms);

  const start = (tool: string, entry: Entry, check: Precheck, ms: number): void => {
    const { promise, resolve } = withResolvers();
    const run: Run = { startMs: ms, ended: promise, end: resolve };
    // Set before the check runs: a check that asks the session about its own tool must not start itself again.
    entry.run = run;
    try {
      const answer: unknown = check(tool);
      if (isAvailability(answer)) takeAnswer(tool, entry, run, () => answer, ms);
      else {
        Promise.resolve(answer).then(
          (late) => takeAnswer(tool, entry, run, () => asAvailability(late), ms),
          (error) => takeAnswer(tool, entry, run, () => rethrow(error), ms),
        );
      }
    } catch (error) {
      takeAnswer(tool, entry, run, () => rethrow(error), ms);
    }
  };

  const lateRun = ({ run }: Entry, ms: number): Run | undefined =>
    run !== undefined && ms - run.startMs >= limitMs ? run : undefined;

  const scoreOf = (entry: Entry | undefined, ms: number): Availability => {
    // K2: there is no score, or none that arrived in time.
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
  isAvailability(value)
    ? value
    : fail(`the check returned none of the allowed values. Return one of ${AVAILABILITIES.join(', ')}`);

/** Reported through `diag`: a check that always fails would otherwise look like one that finds everything healthy. */
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
