import { randomFrom, seedOf } from '../../src/defaults/random.ts';
import type { Arguments } from '../airline/tools.ts';
import { type Fate, type Fault, fateOf, isOutage, PROVIDER } from './faults.ts';
import type { SimulatedTime } from './time.ts';

/** What happened to calls of tools. */
export interface CallLog {
  calls: number;
  /** Calls into a tool whose outage was there. */
  deadCalls: number;
  /** Begin of the first call that met a fault. A wait for its time-out comes after it. */
  firstFailureMs: number | undefined;
  /** When tools of the outage answered. */
  readonly answeredMs: number[];
}

/** What a run needs to call tools. */
export interface World {
  readonly time: SimulatedTime;
  readonly url: string;
  readonly fault: Fault;
  /** Names the database of the agent, and seeds its faults. */
  readonly seed: string;
  readonly log: CallLog;
  /** Number of the task in its run. */
  task: number;
  /** Attempts of the task by tool. */
  attempts: Map<string, number>;
}

/** Nothing listens here. */
const REFUSED_URL = 'http://127.0.0.1:2';
const LATENCY_MS = 500;
export const CALL_TIMEOUT_MS = 30_000;

export class StatusError extends Error {
  readonly status: number;

  constructor(status: number, body: string) {
    super(`HTTP ${status}: ${body}`);
    this.status = status;
  }
}

/** What a call would meet now. */
export const nextFate = (
  { seed, task, fault, time, attempts }: World,
  tool: string,
  attempt = (attempts.get(tool) ?? 0) + 1,
): Fate | undefined => fateOf(fault, tool, time.now(), randomFrom(seedOf(`${seed}/${task}/${tool}`, attempt)));

/** Calls a tool as an application does: with a time-out, and an error unless there is JSON with a status of success. */
export const callTool = async (world: World, tool: string, given: Arguments, signal?: AbortSignal): Promise<string> => {
  const { time, fault, log } = world;
  const attempt = (world.attempts.get(tool) ?? 0) + 1;
  world.attempts.set(tool, attempt);
  const fate = nextFate(world, tool, attempt);
  log.calls += 1;
  if (isOutage(fault, tool, time.now())) log.deadCalls += 1;
  if (fate !== undefined) log.firstFailureMs ??= time.now();
  const answer = await send(world, tool, given, fate ?? '', signal);
  if (fault.outage?.tools.includes(tool)) log.answeredMs.push(time.now());
  return answer;
};

/** A model is asked for a turn. Its provider, the first or the second one, may not answer. Only the first has outages. */
export const askProvider = async (world: World, provider: Provider): Promise<void> => {
  const { fault, time, log } = world;
  const { outage } = fault;
  if (outage?.tools.includes(PROVIDER) !== true || provider === 'second') return;
  const isThere = isOutage(fault, PROVIDER, time.now());
  if (isThere) {
    log.deadCalls += 1;
    log.firstFailureMs ??= time.now();
  }
  await send(world, PROVIDER, {}, isThere ? outage.fate : '');
  log.answeredMs.push(time.now());
};
export type Provider = 'first' | 'second';

const send = async (
  { time, url, seed }: World,
  tool: string,
  given: Arguments,
  fate: string,
  signal?: AbortSignal,
): Promise<string> => {
  const limit = new AbortController();
  const timer = setTimeout(
    () => limit.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
    CALL_TIMEOUT_MS,
  );
  const either = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]);
  const exchange = async (): Promise<string> => {
    const response = await fetch(`${fate === 'refused' ? REFUSED_URL : url}/${tool}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-fate': fate, 'x-store': seed },
      body: JSON.stringify(given),
      signal: either,
    });
    const text = await response.text();
    if (!response.ok) throw new StatusError(response.status, text);
    JSON.parse(text);
    return text;
  };
  try {
    const text = await (fate === 'hang' ? exchange() : time.whileWaiting(exchange));
    await time.sleep(LATENCY_MS, either);
    return text;
  } finally {
    clearTimeout(timer);
  }
};
