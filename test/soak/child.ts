import { setTimeout as wait } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { startTelemetry } from '@breakerbox/telemetry';
import { sumOf } from '../hostile/observed.ts';
import { createBoxes, IDLE_MS, runSession, type Seen } from './soak-agents.ts';
import { createWorld } from './world.ts';

/**
 * A thousand sessions at any time, with random outages, for the given seconds. It runs in rounds. At the end of a round all sessions are
 * over and the process is quiet. Then it measures heap, handles and timers, so that a leak is visible. It never calls `process.exit`: it
 * must end by itself. Needs --expose-gc.
 */

/** What is left after a round. */
export interface Rest {
  readonly heapBytes: number;
  /** Resources that keep the process alive or wake it, by kind, as Node counts them. */
  readonly resources: Readonly<Record<string, number>>;
  /** All timers. Node's own count leaves out timers that do not keep a process alive, and pre-call checks have only those. */
  readonly timers: number;
  /** Since the start. */
  readonly sessions: number;
  readonly calls: number;
  /** Processor time since the start: the cost of calls, even on a busy machine. */
  readonly cpuMs: number;
}

/** The child's report at its end. */
export interface SoakResult {
  readonly rests: readonly Rest[];
  /** Least and most sessions at once during a round, as the scrapes saw them. */
  readonly atOnce: { readonly least: number; readonly most: number };
  readonly scrapes: number;
  readonly seen: Seen;
  readonly runs: number;
  readonly warnings: readonly string[];
  /** The last scrape. */
  readonly metrics: string;
}

const AT_ONCE = 1_000;
const ROUNDS = 4;
const seconds = Number(process.argv[2]);
const collect = (globalThis as { gc?: () => void }).gc;
if (!(seconds > 0) || collect === undefined) throw new Error('start it as: node --expose-gc child.ts SECONDS');

const warnings: string[] = [];
// Except the warning that counting timers is an experimental feature of Node.
process.on('warning', ({ message }) => message.includes('queryObjects') || warnings.push(message));

const telemetry = startTelemetry({ serviceName: 'soak', prometheus: { port: 0 } });
await telemetry.ready;
// A new connection for each scrape, so that none is left when the handles are counted.
const scrape = async (): Promise<string> =>
  (await fetch(telemetry.metricsUrl ?? 'nothing listens', { headers: { connection: 'close' } })).text();

const seen: Seen = { sessions: 0, decisions: {}, outcomes: {}, byHand: 0, neverSettled: 0, strange: [] };
const boxes = createBoxes(seen);
const world = createWorld();
const atOnce = { least: Number.POSITIVE_INFINITY, most: 0 };
let scrapes = 0;

const round = async (untilMs: number): Promise<void> => {
  world.outages(true);
  const lanes = Array.from({ length: AT_ONCE }, async (_, lane) => {
    for (let next = lane; performance.now() < untilMs; next += 1) {
      await runSession(boxes[next % boxes.length] as (typeof boxes)[0], world, seen);
    }
  });
  const scraping = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const running = sumOf(await scrape(), 'breakerbox_sessions{');
      scrapes += 1;
      if (performance.now() >= untilMs) return; // The sessions end.
      atOnce.least = Math.min(atOnce.least, running);
      atOnce.most = Math.max(atOnce.most, running);
      await wait(500);
    }
  };
  await Promise.all([...lanes, scraping()]);
};

const timer = setTimeout(() => {}, 0);
const Timer = timer.constructor as new () => unknown;
clearTimeout(timer);

/** Waits until nothing is under way, and measures. */
const rest = async (): Promise<Rest> => {
  world.outages(false);
  await wait(2 * IDLE_MS); // Sessions that were never ended idle now. Hanging tools have timed out long before.
  await scrape();
  await wait(100);
  for (let times = 0; times < 3; times += 1) {
    collect();
    await wait(20);
  }
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  const { user, system } = process.cpuUsage();
  const cpuMs = (user + system) / 1_000;
  const heapBytes = process.memoryUsage().heapUsed;
  const timers = queryObjects(Timer, { format: 'count' });
  return { heapBytes, resources, timers, sessions: seen.sessions, calls: world.runs, cpuMs };
};

const rests: Rest[] = [];
for (let done = 0; done < ROUNDS; done += 1) {
  await round(performance.now() + (seconds * 1_000) / ROUNDS);
  rests.push(await rest());
}
const metrics = await scrape();
const result: SoakResult = { rests, atOnce, scrapes, seen, runs: world.runs, warnings, metrics };
process.stdout.write(JSON.stringify(result));
