import { type Breakerbox, createBreakerbox, type Session } from '@breakerbox/core';
import { type SimulatedClock, simulatedClock } from './agent.ts';
import { type Random, randomFrom, seedOf } from './random.ts';
import { STEP_MS } from './scenario.ts';

/*
 * A false systemic event in scope `process`: three of five tools fail three times in a row at the same time, by chance, with the same
 * category, and then work again. Twenty sessions share the circuits and continue, each with one call per step.
 */

const SESSIONS = 20;
/** Ten minutes. */
const STEPS = 120;
/** The step in which the three tools begin to fail. */
const TROUBLE_STEP = 6;
/** Failures of each of the three tools: as many as open a circuit. */
const FAILURES = 3;
const SUSPECTS = ['web_search', 'read_page', 'query_db'];
const OTHERS = ['send_mail', 'run_code'];
const TOOLS = [...SUSPECTS, ...OTHERS];

/** The result of one box of sessions. */
export interface FalseEvent {
  /** Events that were found, and how each one ended. */
  readonly events: number;
  readonly endedBy: readonly string[];
  /** Seconds from the event to its end; undefined if it did not end. */
  readonly seconds: number | undefined;
  /** Probes of the three tools up to the end of the event. */
  readonly probes: number;
  /** Calls of the other two tools that the agents wanted, and how many of them were not made. */
  readonly healthyWanted: number;
  readonly healthyLost: number;
  /** Calls of the three tools that were skipped. */
  readonly suspectsSkipped: number;
  /** No session was ever paused. */
  readonly allActive: boolean;
  /** All three circuits are closed in the end. */
  readonly recovered: boolean;
}

/** Listens to the events of a box. */
const watchEvents = (box: Breakerbox) => {
  const seen = { begunAt: [] as number[], endedAt: [] as number[], endedBy: [] as string[], probes: 0 };
  box.on('systemic.detected', ({ unixMs }) => void seen.begunAt.push(unixMs));
  box.on('systemic.resolved', ({ unixMs, by }) => {
    seen.endedAt.push(unixMs);
    seen.endedBy.push(by);
  });
  box.on('decision', ({ decision }) => {
    if (decision === 'probe' && seen.endedAt.length === 0) seen.probes += 1;
  });
  return seen;
};

/** One step of every session. */
const oneRound = (sessions: readonly Session[], random: Random, fails: (tool: string) => boolean, count: Counts) => {
  for (const session of sessions) {
    const tool = TOOLS[Math.floor(random() * TOOLS.length)] ?? '';
    const permit = session.acquire(tool);
    const isMade = permit.decision === 'call' || permit.decision === 'probe';
    if (isMade) permit.settle(fails(tool) ? { outcome: 'failure', category: 'server' } : { outcome: 'success' });
    if (OTHERS.includes(tool)) count.healthyWanted += 1;
    if (!isMade && OTHERS.includes(tool)) count.healthyLost += 1;
    if (!isMade && SUSPECTS.includes(tool)) count.suspectsSkipped += 1;
    if (session.view().state !== 'active') count.allActive = false;
    session.step();
  }
};

interface Counts {
  healthyWanted: number;
  healthyLost: number;
  suspectsSkipped: number;
  allActive: boolean;
}

/** Plays it once. The number is the seed of the agents' wants. */
export const falseEvent = (run: number): FalseEvent => {
  const clock: SimulatedClock = simulatedClock();
  const random = randomFrom(seedOf('false-event', run));
  const tools = Object.fromEntries(TOOLS.map((tool) => [tool, {}]));
  const box = createBreakerbox({ agent: 'simulation', scope: 'process', tools, clock });
  const seen = watchEvents(box);
  const sessions = Array.from({ length: SESSIONS }, (_, index) => box.session({ id: `session-${index}` }));
  const left = new Map(SUSPECTS.map((tool) => [tool, FAILURES]));
  const count: Counts = { healthyWanted: 0, healthyLost: 0, suspectsSkipped: 0, allActive: true };
  for (let step = 1; step <= STEPS; step += 1) {
    const fails = (tool: string): boolean => {
      const more = step < TROUBLE_STEP ? 0 : (left.get(tool) ?? 0);
      // They work again once the event has begun, whether their circuits or their failures began it.
      if (more === 0 || seen.begunAt.length > 0) return false;
      left.set(tool, more - 1);
      return true;
    };
    oneRound(sessions, random, fails, count);
    clock.pass(STEP_MS);
  }
  const [begun] = seen.begunAt;
  const [ended] = seen.endedAt;
  const [first] = sessions;
  return {
    events: seen.begunAt.length,
    endedBy: seen.endedBy,
    seconds: begun === undefined || ended === undefined ? undefined : (ended - begun) / 1_000,
    probes: seen.probes,
    ...count,
    recovered: SUSPECTS.every((tool) => first?.peek(tool)?.state === 'closed'),
  };
};

/** The result of many of them. */
export interface FalseEvents {
  readonly runs: number;
  readonly sessions: number;
  readonly healthyWanted: number;
  readonly healthyLost: number;
  /** The longest time from an event to its end; undefined if one did not end, or if there was no event. */
  readonly longestSeconds: number | undefined;
  /** The most probes before the end of an event. */
  readonly mostProbes: number;
  readonly suspectsSkipped: number;
  /** Runs with one event that a probe ended, in which all sessions stayed active and all circuits closed. */
  readonly asPromised: number;
}

const isAsPromised = ({ events, endedBy, allActive, recovered }: FalseEvent): boolean =>
  events === 1 && endedBy.join() === 'probe' && allActive && recovered;

export const falseEvents = (runs: number): FalseEvents => {
  const all = Array.from({ length: runs }, (_, run) => falseEvent(run));
  const sum = (of: (one: FalseEvent) => number): number => all.reduce((before, one) => before + of(one), 0);
  const seconds = all.flatMap((one) => (one.seconds === undefined ? [] : [one.seconds]));
  return {
    runs,
    sessions: SESSIONS,
    healthyWanted: sum((one) => one.healthyWanted),
    healthyLost: sum((one) => one.healthyLost),
    longestSeconds: seconds.length === runs ? Math.max(...seconds) : undefined,
    mostProbes: Math.max(...all.map(({ probes }) => probes)),
    suspectsSkipped: sum((one) => one.suspectsSkipped),
    asPromised: all.filter(isAsPromised).length,
  };
};
