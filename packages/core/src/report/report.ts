import { keepsCharges, type Ledger, type SessionState, withLimits } from '../budget/ledger.ts';
import type { SystemicEvent } from '../budget/systemic.ts';
import { BreakerboxUsageError, list, object, text } from '../checks/checks.ts';
import { type ProbeWait, probeWait } from '../circuit/schedule.ts';
import type { Moment } from '../clock.ts';
import type { LimitView } from '../limits/limit-view.ts';
import type { SystemicDecision } from '../reasons.ts';
import type { ScopePlan } from '../routing/route.ts';
import type { Session } from '../session-api.ts';
import { sessionInternals } from '../session-internals.ts';
import type { ToolTally } from '../session-tools.ts';
import { type CircuitView, viewCircuits } from '../view.ts';
import { headlineOf, type Known, nextOf } from './next.ts';
import {
  type ChildReport,
  type CircleReport,
  leftOutOf,
  reportBudget,
  reportChildren,
  reportLimits,
  reportPlan,
  type SessionReport,
  type SystemicReport,
} from './session-report.ts';
import { probeReport, reportGroups, reportTools } from './tool-report.ts';

/** Options of `report`. */
export interface ReportOptions {
  /** Names of the tasks that are done. The session can't know. Default: none. */
  readonly done?: readonly string[] | undefined;
}

/**
 * The state of the session as plain data: tools, budget, systemic failure, plan, what was left out and what to do next (Q1).
 * `formatReport` turns it into text. Changes nothing. Contains no arguments, results or secrets.
 *
 * @throws BreakerboxUsageError if `session` is not a session, or `done` is not a list of names.
 *
 * @example
 * ```ts
 * const { state, headline } = report(session);
 * if (state !== 'active') page(headline, formatReport(report(session)));
 * ```
 */
export const report = (session: Session, options: ReportOptions = {}): SessionReport => {
  const inside = sessionInternals(session, 'report(session)');
  checkOptions(options);
  const { box } = inside;
  const { store, ledgers, at, limits, runOf, tallies, isObserved } = inside.lookAhead();
  const children = inside.run && reportChildren(runOf(inside.run), at.ms, isObserved());
  const gate = store.correlations.real.gate?.circuit;
  const policy = box.systemic?.gate;
  return buildReport({
    id: session.id,
    agent: session.agent,
    unixMs: box.clock.unixNow(),
    at,
    circuits: viewCircuits(store, at, box),
    tallies: tallies(),
    ledger: ledgers.real.ledger,
    event: ledgers.event,
    eventProbe: gate?.state === 'open' && policy !== undefined ? probeWait(gate.outage, policy, at) : undefined,
    systemicDecision: box.systemic?.decision ?? 'pause',
    ...(inside.run && { limits: limits(inside.run) }),
    ...(children && { children }),
    ...(inside.circles.length > 0 && { circles: inside.circles.map((one) => ({ ...one })) }),
    plan: inside.plan,
    done: options.done ?? [],
  });
};

const aTask = text('it is the name of a task that is done.', 'name');

const checkOptions = (options: unknown): void => {
  const [first] = object({ done: list(aTask, "['summary']") }, "{ done: ['summary'] }")('options', options);
  if (first === undefined) return;
  const why = 'The names in done say which planned tasks are done.';
  throw new BreakerboxUsageError(`report(session, { done }): ${first.path} ${first.message} ${why}`);
};

export interface ReportFacts {
  /** The session's id. */
  readonly id: string;
  readonly agent: string;
  readonly unixMs: number;
  readonly at: Moment;
  /** The circuits, also of groups, under `group:NAME`. */
  readonly circuits: readonly CircuitView[];
  readonly tallies: ReadonlyMap<string, ToolTally>;
  /** The ledger that pauses the session. */
  readonly ledger: Ledger;
  /** The systemic event that is not over. */
  readonly event: SystemicEvent | undefined;
  /** The wait until the next probe for it (S5); undefined if no call probes for it. */
  readonly eventProbe: ProbeWait | undefined;
  /** The decision of a systemic event in this box (S2). */
  readonly systemicDecision: SystemicDecision;
  /** The limits of the run (D2). */
  readonly limits?: readonly LimitView[];
  /** Its sub-agents (D1). */
  readonly children?: readonly ChildReport[];
  /** The circles in which the agent went (D5). */
  readonly circles?: readonly CircleReport[];
  readonly plan: ScopePlan | undefined;
  readonly done: readonly string[];
}

/** Pure: the same facts give the same report. */
export const buildReport = (facts: ReportFacts): SessionReport => {
  const { id, agent, unixMs, at, circuits, ledger, done } = facts;
  const tools = reportTools(circuits, facts.tallies, facts.systemicDecision);
  const plan = facts.plan === undefined ? null : reportPlan(facts.plan, done);
  const state = stateOf(facts);
  const known: Known = {
    agent,
    session: id,
    unixMs,
    step: at.step,
    state,
    tools,
    groups: reportGroups(circuits, tools),
    budget: reportBudget(ledger.budget, ledger.exhausted, keepsCharges(state), at),
    ...(facts.limits && { limits: reportLimits(facts.limits) }),
    ...(facts.children && { children: facts.children }),
    ...(facts.circles && { circles: facts.circles }),
    systemic: reportSystemic(facts),
    plan,
    done: [...done],
    leftOut: leftOutOf(tools, plan),
  };
  return { headline: headlineOf(known), ...known, next: nextOf(known) };
};

const stateOf = ({ event, systemicDecision, ledger, limits = [] }: ReportFacts): SessionState => {
  if (event !== undefined && systemicDecision === 'pause') return 'paused_systemic';
  const isOver = limits.some(({ level, mode }) => level === 'reached' && mode === 'pause');
  return withLimits(ledger.exhausted ? 'paused_budget' : 'active', isOver);
};

const reportSystemic = ({ event, eventProbe, systemicDecision }: ReportFacts): SystemicReport | null => {
  if (event === undefined) return null;
  const { category = null, layer, dependency = null, group = null, openings } = event;
  return {
    category,
    layer,
    dependency,
    group,
    decision: systemicDecision,
    nextProbe: eventProbe === undefined ? null : probeReport(eventProbe),
    tools: openings.map((opening) => ({ tool: opening.tool, category: opening.category, unixMs: opening.unixMs })),
  };
};
