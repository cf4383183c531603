import { setTimeout as wait } from 'node:timers/promises';

/** Tools with random outages, the same for all sessions. */
export interface World {
  /** Calls a tool: it answers, fails or hangs, depending on its current state. */
  call(tool: string, signal: AbortSignal): Promise<unknown>;
  /** Starts random outages, or ends all of them. */
  outages(allowed: boolean): void;
  /** How often tools really ran. */
  readonly runs: number;
}

export const TOOLS = ['search', 'fetch', 'orders', 'files', 'weather', 'mail', 'sums', 'news'] as const;

/** What a tool does during an outage. */
const WAYS = [
  () => new Error('connect ECONNREFUSED 192.0.2.1:443'),
  () => Object.assign(new Error('unavailable'), { status: 503, headers: { 'retry-after': '1' } }),
  () => Object.assign(new Error('slow down'), { status: 429 }),
  () => Object.assign(new Error('no such file'), { code: 'EIO' }),
  () => new Error('bad thing', { cause: new DOMException('took too long', 'TimeoutError') }),
] as const;

const HANGS = 'hangs';

const pick = <Value>(values: readonly [Value, ...Value[]]): Value =>
  values[Math.floor(Math.random() * values.length)] ?? values[0];

/** Milliseconds between two moments at which an outage starts or ends. */
const MOOD_MS = 150;

/** Starts the outages. Their timer does not keep the process alive. */
export const createWorld = (): World => {
  const down = new Map<string, (() => Error) | typeof HANGS>();
  let allowed = true;
  let runs = 0;
  setInterval(() => {
    const tool = pick(TOOLS);
    // From time to time half of the tools fail at once, with one cause.
    if (allowed && Math.random() < 0.05) for (const one of TOOLS.slice(0, 4)) down.set(one, WAYS[0]);
    else if (allowed && Math.random() < 0.4) down.set(tool, Math.random() < 0.2 ? HANGS : pick(WAYS));
    else down.delete(tool);
  }, MOOD_MS).unref();

  return {
    call: async (tool, signal) => {
      runs += 1;
      const way = down.get(tool);
      if (way === HANGS) return new Promise(() => {}); // It ignores its signal.
      await wait(1 + Math.random() * 40, undefined, { signal });
      if (way !== undefined) throw way();
      if (Math.random() < 0.02) throw new TypeError(`chance ${Math.random()}`);
      return Math.random() < 0.05 ? { isError: true, content: [{ type: 'text', text: 'unknown id' }] } : { tool };
    },
    outages: (may) => {
      allowed = may;
      if (!may) down.clear();
    },
    get runs() {
      return runs;
    },
  };
};
