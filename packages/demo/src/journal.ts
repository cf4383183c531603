import type { Breakerbox, BreakerboxEvents, Decision, Route, ScopePlan } from '@breakerbox/core';
import { visible } from '@breakerbox/core/internal';
import type { SessionReport } from '@breakerbox/core/report';
import { terminalSafe } from '../../cli/src/command-io.ts';
import { clockTime } from './duration.ts';
import { DECISION_KINDS, ROUTE_KINDS, type Tallies, tallies } from './tallies.ts';
import { describePlan, describeRoute } from './wording.ts';

/** Labels of an alert, such as `alertname`, `gen_ai_agent_name` and, for alerts of one tool, `gen_ai_tool_name`. */
export type AlertLabels = Readonly<Record<string, string>>;

/** How good or bad an entry is, for its colour. */
export type Tone = 'bad' | 'warn' | 'good' | 'plain';

/** An event, as a person reads it. */
export interface JournalEntry {
  /** Milliseconds since the demo began. */
  readonly atMs: number;
  readonly tone: Tone;
  /** The agent, or another subject. */
  readonly who: string;
  readonly text: string;
  /** How often it happened in a row. */
  times: number;
  /** The report of a pause. */
  readonly report?: SessionReport;
}

/** The events of the boxes, in the form of the report. Times in milliseconds since the demo began. */
export interface Recorded {
  readonly transitions: (Omit<BreakerboxEvents['circuit.transition'], 'unixMs'> & { readonly atMs: number })[];
  readonly budgets: {
    readonly atMs: number;
    readonly agent: string;
    readonly session: string;
    readonly what: 'exhausted' | 'resumed';
  }[];
  readonly systemic: {
    readonly detectedAtMs: number;
    readonly agent: string;
    readonly session: string;
    readonly category: string | null;
    readonly layer: string;
    readonly tools: readonly string[];
    resolvedAtMs: number | null;
  }[];
  /** Plans that defer tasks, or that replace a tool with a worse one. */
  readonly scope: {
    readonly atMs: number;
    readonly agent: string;
    readonly session: string;
    readonly decision: ScopePlan['decision'];
    readonly deferred: readonly { readonly task: string; readonly tools: readonly string[] }[];
    readonly degraded: readonly { readonly task: string; readonly tool: string; readonly alternative: string }[];
  }[];
  /** Results that the model got with a stale label, each with that label. */
  readonly stale: { readonly atMs: number; readonly agent: string; readonly tool: string; readonly label: string }[];
  /** The reports of sessions that paused. */
  readonly reports: { readonly atMs: number; readonly report: SessionReport }[];
  readonly incidents: { readonly atMs: number; readonly title: string; readonly what: 'begins' | 'ends' }[];
  readonly operator: { readonly atMs: number; readonly agent: string; readonly text: string }[];
}

/** Records what happens. */
export interface Journal {
  /** The agents start: the clock starts. */
  begin(): void;
  /** 0 before `begin`. */
  elapsedMs(): number;
  /** The current round of the script, from 1. */
  readonly round: number;
  /** The latest entries, oldest first. */
  readonly entries: readonly JournalEntry[];
  readonly tallies: Tallies<Decision>;
  /** The routes of rejected calls. */
  readonly routes: Tallies<Route['kind']>;
  /** Tasks that plans deferred, by agent: a task that three plans deferred counts three times. */
  readonly deferrals: ReadonlyMap<string, number>;
  readonly recorded: Recorded;
  /** Where the latest rejected call of a tool went, in words; empty if it went nowhere. */
  meanwhile(agent: string, tool: string): string;
  /** Records the events of a box. */
  follow(box: Breakerbox): void;
  cycle(round: number): void;
  incident(title: string, what: 'begins' | 'ends'): void;
  operator(agent: string, text: string): void;
  /** The model read a result with this label. */
  stale(agent: string, tool: string, label: string): void;
  /** Records that a session has paused. */
  report(report: SessionReport): void;
  alert(what: string, labels: AlertLabels, tone: Tone): void;
  note(who: string, text: string, tone?: Tone): void;
  /** Calls `listener` for each new entry, but not for repeats. */
  onEntry(listener: (entry: JournalEntry) => void): void;
}

/** The demo may run for days, so only so many of each are kept. Counts are complete. */
const KEPT = 2000;

const keep = <T>(list: T[], item: T): void => {
  list.push(item);
  if (list.length > KEPT) list.shift();
};

/** Makes an empty journal. @param now Milliseconds of a monotonic clock. */
export const createJournal = (now: () => number = () => performance.now()): Journal => {
  let start: number | undefined;
  const entries: JournalEntry[] = [];
  const listeners: ((entry: JournalEntry) => void)[] = [];
  /** The entry that a tool's next decision may repeat. */
  const running = new Map<string, JournalEntry>();
  /** Where the latest rejected call of each tool went. */
  const ways = new Map<string, string>();
  const recorded: Recorded = {
    transitions: [],
    budgets: [],
    systemic: [],
    scope: [],
    stale: [],
    reports: [],
    incidents: [],
    operator: [],
  };
  const counts = tallies(DECISION_KINDS);
  const routes = tallies(ROUTE_KINDS);
  const deferrals = new Map<string, number>();
  let round = 0;
  const elapsedMs = (): number => (start === undefined ? 0 : Math.round(now() - start));

  const write = (who: string, text: string, tone: Tone, report?: SessionReport): JournalEntry => {
    const entry: JournalEntry = {
      atMs: elapsedMs(),
      who: visible(who),
      text: terminalSafe(text),
      tone,
      times: 1,
      ...(report && { report }),
    };
    keep(entries, entry);
    for (const listener of listeners) listener(entry);
    return entry;
  };

  /** Adds one to the entry before it under this key if the text is the same. */
  const repeat = (key: string, who: string, text: string, tone: Tone): void => {
    const last = running.get(key);
    if (last?.text === text) last.times += 1;
    else running.set(key, write(who, text, tone));
  };

  const decided = ({ agent, tool, decision, reason, route }: BreakerboxEvents['decision']): void => {
    const key = `${agent}/${tool}`;
    const way = describeRoute(route);
    counts.add(agent, tool, decision);
    if (route !== undefined) {
      routes.add(agent, tool, route.kind);
      ways.set(key, way);
    }
    if (decision === 'call') return;
    repeat(key, agent, `${decision} ${tool} (${reason})${way === '' ? '' : ` -> ${way}`}`, DECISION_TONES[decision]);
  };

  const reduced = ({ agent, session, plan }: BreakerboxEvents['scope.reduced']): void => {
    const { decision, achievable, deferred } = plan;
    deferrals.set(agent, (deferrals.get(agent) ?? 0) + deferred.length);
    keep(recorded.scope, {
      atMs: elapsedMs(),
      agent,
      session,
      decision,
      deferred: deferred.map(({ task, blockers }) => ({ task, tools: blockers.map(({ tool }) => tool) })),
      degraded: achievable.flatMap(({ task, degraded }) =>
        degraded.map(({ tool, route }) => ({ task, tool, alternative: route.tool })),
      ),
    });
    repeat(`${agent} plan`, agent, describePlan(plan), 'warn');
  };

  const moved = ({ unixMs: _, ...event }: BreakerboxEvents['circuit.transition']): void => {
    const { agent, tool, from, to, category } = event;
    keep(recorded.transitions, { ...event, atMs: elapsedMs() });
    for (const key of [`${agent}/${tool}`, `${agent} plan`]) running.delete(key);
    if (to === 'closed') ways.delete(`${agent}/${tool}`);
    const why = to === 'open' && category !== undefined ? ` (${category})` : '';
    write(agent, `${tool}: ${from} -> ${to}${why}`, to === 'closed' ? 'good' : to === 'open' ? 'bad' : 'warn');
  };

  const budget = (what: 'exhausted' | 'resumed', { agent, session }: { agent: string; session: string }): void => {
    keep(recorded.budgets, { atMs: elapsedMs(), agent, session, what });
    write(agent, `failure budget ${what}`, what === 'exhausted' ? 'bad' : 'good');
  };

  const follow = (box: Breakerbox): void => {
    box.on('decision', decided);
    box.on('circuit.transition', moved);
    box.on('scope.reduced', reduced);
    box.on('budget.exhausted', (event) => budget('exhausted', event));
    box.on('budget.resumed', (event) => budget('resumed', event));
    box.on('systemic.detected', ({ agent, session, event }) => {
      const tools = event.openings.map(({ tool }) => tool);
      const { category = null, layer } = event;
      keep(recorded.systemic, {
        detectedAtMs: elapsedMs(),
        agent,
        session,
        category,
        layer,
        tools,
        resolvedAtMs: null,
      });
      write(agent, `systemic failure: ${tools.join(', ')} (${category ?? 'mixed'})`, 'bad');
    });
    box.on('systemic.resolved', ({ agent, session }) => {
      const event = recorded.systemic.findLast((one) => one.session === session);
      if (event !== undefined) event.resolvedAtMs = elapsedMs();
      write(agent, 'systemic failure is over', 'good');
    });
  };

  return {
    begin: () => {
      start = now();
    },
    elapsedMs,
    get round() {
      return round;
    },
    entries,
    tallies: counts,
    routes,
    deferrals,
    recorded,
    meanwhile: (agent, tool) => ways.get(`${agent}/${tool}`) ?? '',
    follow,
    cycle: (next) => {
      round = next;
    },
    incident: (title, what) => {
      keep(recorded.incidents, { atMs: elapsedMs(), title, what });
      write('incident', `${what}: ${title}`, what === 'begins' ? 'bad' : 'good');
    },
    operator: (agent, text) => {
      keep(recorded.operator, { atMs: elapsedMs(), agent, text });
      write('operator', `${agent}: ${text}`, 'warn');
    },
    stale: (agent, tool, label) => {
      keep(recorded.stale, { atMs: elapsedMs(), agent, tool, label });
      repeat(`${agent}/${tool} stale`, agent, `${tool} ${label}`, 'warn');
    },
    report: (report) => {
      keep(recorded.reports, { atMs: elapsedMs(), report });
      write(report.agent, report.headline, 'bad', report);
    },
    alert: (what, { alertname, gen_ai_agent_name: agent, gen_ai_tool_name: tool }, tone) => {
      write('alert', `${what}: ${[alertname, agent, tool].filter(Boolean).join(' ')}`, tone);
    },
    note: (who, text, tone = 'plain') => {
      write(who, text, tone);
    },
    onEntry: (listener) => {
      listeners.push(listener);
    },
  };
};

const DECISION_TONES: Readonly<Record<Decision, Tone>> = { call: 'plain', probe: 'warn', skip: 'plain', pause: 'warn' };

/** An entry on one line, without colour: `00:12  ops-agent       skip get-sum (open)`. */
export const entryLine = ({ atMs, who, text, times }: JournalEntry): string =>
  `${clockTime(atMs)}  ${who.padEnd(14)}  ${text}${times > 1 ? ` x${times}` : ''}`;
