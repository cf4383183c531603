import { setTimeout as wait } from 'node:timers/promises';
import { type Breakerbox, type BreakerboxConfig, createBreakerbox, type Session } from '@breakerbox/core';
import { formatReport, report } from '@breakerbox/core/report';
import { restore, snapshot } from '@breakerbox/core/snapshot';
import { guardAll, ToolUnavailableError } from '@breakerbox/instrumentation';
import { TOOLS, type World } from './world.ts';

/** What the callers saw, to compare with the metrics. */
export interface Seen {
  /** Sessions that were started, including restored ones. */
  sessions: number;
  /** Decisions and outcomes that listeners got, by kind. */
  readonly decisions: Record<string, number>;
  readonly outcomes: Record<string, number>;
  /** Permits that were acquired by hand and let a call through, and those of them that were never settled. */
  byHand: number;
  neverSettled: number;
  /** Errors that no caller should get. */
  readonly strange: string[];
}

/** All agents have the same tools. They differ in how circuits are shared, in the budget's rule, and in how systemic events end. */
const CONFIGS: readonly Partial<BreakerboxConfig>[] = [
  { agent: 'soak-session' },
  { agent: 'soak-strict', budget: 'strict' },
  { agent: 'soak-process', scope: 'process', systemic: { recovery: { probeAfterMs: 300, maxProbeAfterMs: 600 } } },
  { agent: 'soak-observe', defaults: { mode: 'observe_only' } },
  { agent: 'soak-none', scope: 'none' },
];

/** Tools of one group (C13). */
const GROUPED = ['fetch', 'orders'] as const;

/** Short waits, because a soak of minutes must have many openings, probes, leases and recoveries. */
const DEFAULTS = { cooldownMs: 200, maxCooldownMs: 400, probeLeaseMs: 500, maxRetryAfterMs: 500 } as const;

/** Time after which sessions that are never ended leave the gauges. */
export const IDLE_MS = 1_000;

export const createBoxes = (seen: Seen): readonly Breakerbox[] =>
  CONFIGS.map((config) => {
    const box = createBreakerbox({
      agent: 'soak',
      sessionIdleMs: IDLE_MS,
      precheckMaxAgeMs: 100,
      systemic: { recovery: { afterMs: 300 } },
      ...config,
      defaults: { ...DEFAULTS, ...config.defaults },
      tools: {
        search: { alternatives: [{ tool: 'news', degradation: 'low', adapt: (input) => input }] },
        weather: { serveStaleMs: 2_000, labelFreshness: true },
        mail: { precheck: async () => (Math.random() < 0.1 ? 'unavailable' : 'available') },
        sums: { slowCallRate: { slowerThanMs: 35, rate: 0.9, minimumCalls: 5, windowMs: 1_000 } },
        files: { failureThreshold: false, failureRate: { rate: 0.5, minimumCalls: 4, windowCalls: 10 } },
        news: {},
        ...Object.fromEntries(GROUPED.map((tool) => [tool, { group: 'shop' }])),
      },
      groups: { shop: DEFAULTS },
    });
    box.on('decision', ({ decision }) => add(seen.decisions, decision));
    box.on('outcome', ({ outcome }) => add(seen.outcomes, outcome));
    box.on('circuit.transition', ({ to }) => {
      if (Math.random() < 0.01) throw new Error(`a listener that fails, at ${to}`);
    });
    return box;
  });

const add = (counts: Record<string, number>, key: string): void => {
  counts[key] = (counts[key] ?? 0) + 1;
};

/** Never fires. A listener that calls leave on it is a leak. */
const SHUTDOWN = new AbortController().signal;

/** One run of an agent, from its first call to its end, with every function of a session. */
export const runSession = async (box: Breakerbox, world: World, seen: Seen): Promise<void> => {
  let session: Session = box.session();
  seen.sessions += 1;
  const caller = new AbortController();
  const call = { signal: Math.random() < 0.5 ? caller.signal : SHUTDOWN };
  const guarded = () =>
    guardAll(
      session,
      Object.fromEntries(
        TOOLS.map((tool) => [tool, (_: unknown, { signal }: { signal: AbortSignal }) => world.call(tool, signal)]),
      ),
      { timeoutMs: 300 },
    );
  let tools = guarded();
  const strange = (error: unknown): void => judge(error, seen);
  for (let turn = 2 + Math.floor(Math.random() * 12); turn > 0; turn -= 1) {
    const asked = Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => any(TOOLS));
    await Promise.all(
      asked.map((tool) => tools[tool]?.({ query: Math.floor(Math.random() * 3) }, call).catch(strange)),
    );
    if (Math.random() < 0.3) byHand(session, seen);
    if (Math.random() < 0.7) session.step();
    if (session.view().state !== 'active') recover(session);
    if (Math.random() < 0.05) {
      const kept = JSON.stringify(snapshot(session));
      session.end();
      session = restore(box, JSON.parse(kept));
      seen.sessions += 1;
      tools = guarded();
    }
    await wait(Math.random() * 60);
  }
  if (Math.random() < 0.1) {
    // The user aborts: calls under way are cut off.
    const cut = tools.search?.({ query: 0 }, { signal: caller.signal }).catch(strange);
    caller.abort();
    await cut;
  }
  if (Math.random() < 0.9) session.end(); // The others are never ended, and leave the gauges when they have idled.
};

const any = <Value>(values: readonly Value[]): Value => values[Math.floor(Math.random() * values.length)] as Value;

/** A guarded call may only throw errors of tools, rejections, time-outs and aborts. */
const judge = (error: unknown, seen: Seen): void => {
  if (error instanceof ToolUnavailableError) return;
  const text = `${(error as Error).name}: ${(error as Error).message}`;
  const known = /ECONNREFUSED|unavailable|slow down|no such file|bad thing|chance|No answer within|abort/.test(text);
  if (!known && seen.strange.length < 10) seen.strange.push(text);
};

/** A loop of your own: some of its permits are settled twice, some never, and some names are made up. */
const byHand = (session: Session, seen: Seen): void => {
  const madeUp = Math.random() < 0.2;
  const permit = session.acquire(madeUp ? `made_up_${Math.random()}` : any(TOOLS), { input: { at: Math.random() } });
  if (permit.decision !== 'call' && permit.decision !== 'probe') return;
  seen.byHand += 1;
  // No probes, not even of a circuit that is only observed. A probe that never settles fails at the end of its lease, and counts.
  if (permit.reason === 'closed' && Math.random() < 0.2) {
    seen.neverSettled += 1;
    return;
  }
  permit.settle({ outcome: Math.random() < 0.8 ? 'success' : 'failure', tokens: 10 });
  if (Math.random() < 0.2) permit.settle({ error: new Error('a second time') });
};

/** What an operator does with a paused session. */
const recover = (session: Session): void => {
  formatReport(report(session));
  session.note();
  session.confirmRecovered();
  session.resume();
};
