/** A simulated agent process as Prometheus sees it: its series, and events that change them. For tests of rules. */
import {
  ATTR,
  METRIC,
  type MetricDefinition,
  type Reason,
  type ReportedState,
  type SessionState,
} from '@breakerbox/core';
import { label } from '../src/promql.ts';

type Labels = Readonly<Record<string, string>>;

const SESSION_STATES: readonly SessionState[] = ['active', 'paused_budget', 'paused_systemic'];
type Category = 'network' | 'timeout' | 'server' | 'permission';
/** Some bounds of the histogram, enough to distinguish fast from slow. */
const BOUNDS = [0.16, 0.64, 1.28, 5.12, 20.48, 81.92];

export interface ProcessOptions {
  readonly agent?: string;
  readonly job?: string;
  readonly instance?: string;
  /** A label of the target, if it has one. */
  readonly namespace?: string;
  /** `group:NAME` is the circuit of a group. */
  readonly tools?: readonly string[];
  /** Whether it shares circuits through a store. Default: false, without the series of a fleet. */
  readonly fleet?: boolean;
}

/** Has the zeros of the real telemetry, and other series from their first use on. All end with the process. */
export class SimulatedProcess {
  readonly #base: Labels;
  readonly #tools: readonly string[];
  readonly #fleet: boolean;
  readonly #values = new Map<string, number>();
  #up = true;

  constructor({
    agent = 'a',
    job = 'fleet',
    instance = '1',
    tools = ['t'],
    fleet = false,
    namespace,
  }: ProcessOptions = {}) {
    this.#base = { ...(namespace !== undefined && { namespace }), job, instance, [label(ATTR.agent)]: agent };
    this.#tools = tools;
    this.#fleet = fleet;
    this.start();
  }

  /** The values of a scrape by series. Empty while the process is down. */
  read(): ReadonlyMap<string, number> {
    return this.#up ? this.#values : new Map();
  }

  stop(): void {
    this.#up = false;
    this.#values.clear();
  }

  /** Sets all to zero; also used for a restart. */
  start(): void {
    this.#up = true;
    this.#values.clear();
    for (const state of SESSION_STATES) this.#set(METRIC.sessions, { [ATTR.sessionState]: state }, 0);
    for (const metric of [
      METRIC.budgetLow,
      METRIC.budgetConsumed,
      METRIC.budgetExhaustions,
      METRIC.sessionsStarted,
      METRIC.systemicActive,
    ])
      this.#set(metric, {}, 0);
    this.#set(METRIC.systemicEvents, { [ATTR.errorType]: '_MIXED', [ATTR.suspect]: 'unknown' }, 0);
    for (const tool of this.#tools) this.#declare(tool);
    if (this.#fleet) this.store('up');
  }

  /** The shared store answers this process, or does not. */
  store(state: 'up' | 'degraded'): void {
    this.#set(METRIC.fleetUp, {}, state === 'up' ? 1 : 0);
  }

  /** A model answers, in a list with this first model. */
  answer(model: string, primary: string, answers = 1): void {
    const position = model === primary ? 'primary' : 'fallback';
    const of = { [ATTR.tool]: model, [ATTR.position]: position, [ATTR.primary]: primary };
    this.#add(METRIC.modelAnswers, of, answers);
  }

  /** No model of a list answers. */
  unanswered(primary: string, calls = 1): void {
    this.#add(METRIC.modelFailures, { [ATTR.tool]: primary }, calls);
  }

  #declare(tool: string): void {
    const on = { [ATTR.tool]: tool };
    for (const state of ['closed', 'open', 'half_open']) this.#set(METRIC.circuits, { ...on, [ATTR.state]: state }, 0);
    this.#set(METRIC.transitions, { ...on, [ATTR.stateFrom]: 'closed', [ATTR.stateTo]: 'open' }, 0);
    if (tool.startsWith('group:')) return; // A group has a circuit but no calls.
    for (const outcome of ['success', 'failure', 'ignored']) {
      this.#set(METRIC.outcomes, { ...on, [ATTR.outcome]: outcome }, 0);
    }
    for (const [decision, reason] of [
      ['call', 'closed'],
      ['probe', 'probe_due'],
      ['skip', 'open'],
      ['pause', 'budget_exhausted'],
      ['pause', 'systemic'],
    ] as const) {
      this.#set(METRIC.decisions, { ...on, [ATTR.decision]: decision, [ATTR.reason]: reason }, 0);
    }
  }

  /** Starts sessions. Each has a closed circuit of each tool. */
  begin(sessions = 1): void {
    this.#add(METRIC.sessions, { [ATTR.sessionState]: 'active' }, sessions);
    this.#add(METRIC.sessionsStarted, {}, sessions);
    for (const tool of this.#tools) this.#circuit(tool, 'closed', sessions);
  }

  /** Ends sessions, and removes their circuits from the states that they were in. */
  end(sessions = 1, states: Readonly<Record<string, ReportedState>> = {}, state: SessionState = 'active'): void {
    this.#add(METRIC.sessions, { [ATTR.sessionState]: state }, -sessions);
    if (state === 'paused_systemic') this.#add(METRIC.systemicActive, {}, -sessions);
    for (const tool of this.#tools) this.#circuit(tool, states[tool] ?? 'closed', -sessions);
  }

  /** Pauses active sessions, or resumes paused ones. */
  pause(state: 'paused_budget' | 'paused_systemic' | 'paused_limit', sessions = 1, suspect?: string): void {
    this.#add(METRIC.sessions, { [ATTR.sessionState]: 'active' }, -sessions);
    this.#add(METRIC.sessions, { [ATTR.sessionState]: state }, sessions);
    if (state === 'paused_systemic') this.event(sessions, suspect);
    else if (sessions > 0 && state === 'paused_budget') this.#add(METRIC.budgetExhaustions, {}, sessions);
  }

  /** Starts or ends events. In scope process, no session is paused. */
  event(events = 1, suspect = 'network', category = 'network'): void {
    this.#add(METRIC.systemicActive, {}, events);
    if (events > 0) this.#add(METRIC.systemicEvents, { [ATTR.errorType]: category, [ATTR.suspect]: suspect }, events);
  }

  /** The tools with which an event began. */
  together(...tools: readonly string[]): void {
    for (const tool of tools) this.#add(METRIC.systemicTools, { [ATTR.tool]: tool }, 1);
  }

  /** Limits of runs are advised or reached. */
  limit(level: 'advised' | 'reached' | 'observed', limit = 'calls', times = 1): void {
    this.#add(METRIC.limits, { [ATTR.limit]: limit, [ATTR.limitLevel]: level }, times);
  }

  /** Calls and models report what they have used. */
  spend(tokens: number, cost = 0, currency = 'USD'): void {
    if (tokens > 0) this.#add(METRIC.spentTokens, {}, tokens);
    if (cost > 0) this.#add(METRIC.spentCost, { [ATTR.currency]: currency }, cost);
  }

  charge(failures = 1): void {
    this.#add(METRIC.budgetConsumed, {}, failures);
  }

  /** Lets sessions fall to one failure left. */
  fallLow(sessions = 1): void {
    this.#add(METRIC.budgetLow, {}, sessions);
  }

  /** Executes calls. */
  call(tool: string, result: 'success' | Category, calls = 1, took = 0.1): void {
    this.#decide(tool, 'call', 'closed', calls);
    this.#outcome(tool, result, calls, took);
  }

  /** Calls fail, and their keys are to blame. */
  failKey(tool: string, category: Category, calls = 1): void {
    const blamed = { [ATTR.outcome]: 'failure', [ATTR.errorType]: category, [ATTR.blames]: 'key' };
    this.#add(METRIC.errors, { [ATTR.tool]: tool, ...blamed }, calls);
  }

  skip(tool: string, calls = 1, reason: Reason = 'open'): void {
    this.#decide(tool, 'skip', reason, calls);
  }

  /** Opens a circuit at this second, after the given number of failed calls. */
  open(second: number, tool: string, category: Category = 'network', circuits = 1): void {
    this.call(tool, category, 3 * circuits);
    this.charge(3 * circuits);
    this.#move(tool, 'closed', 'open', circuits);
    this.opened(second, tool, category);
    this.#unavailable(tool, second);
  }

  /** A circuit opened at this second, and is closed again. */
  opened(second: number, tool: string, category: Category): void {
    this.#set(METRIC.openedTime, { [ATTR.tool]: tool, [ATTR.errorType]: category }, second);
  }

  /** Open circuits wait until this second, because their service asked. `isAgain`: a probe has failed since they opened. */
  asksToWait(tool: string, until: number, { circuits = 1, isAgain = false } = {}): void {
    this.#set(METRIC.retryAfterTime, { [ATTR.tool]: tool }, until);
    if (!isAgain) this.#set(METRIC.circuitsWaiting, { [ATTR.tool]: tool }, circuits);
  }

  /** The wait is over: the next call will be a probe. */
  waited(tool: string): void {
    this.#set(METRIC.circuitsWaiting, { [ATTR.tool]: tool }, 0);
  }

  /** Skips calls for a key whose service asked to wait. */
  skipAsked(tool: string, calls = 1): void {
    this.skip(tool, calls, 'key_open');
    this.#add(METRIC.skipsWaiting, { [ATTR.tool]: tool }, calls);
  }

  /** Since when the tool is unavailable. It stays, until no circuit is. */
  #unavailable(tool: string, second: number): void {
    const key = this.#key(METRIC.unavailableTime, { [ATTR.tool]: tool }, '');
    if (!this.#values.has(key)) this.#values.set(key, second);
  }

  /**
   * Opens the circuit of a group. Open circuits of its tools close, and their openings are taken back.
   *
   * @param withdrawn the value that remains of these openings: none, or 0 if the SDK exports zeros.
   */
  openGroup(
    second: number,
    group: string,
    open: readonly string[],
    category: Category = 'network',
    withdrawn?: 0,
  ): void {
    this.charge();
    this.#move(group, 'closed', 'open', 1);
    this.#set(METRIC.openedTime, { [ATTR.tool]: group, [ATTR.errorType]: category }, second);
    this.#unavailable(group, second);
    for (const tool of open) {
      this.#move(tool, 'open', 'closed', 1);
      const opened = this.#key(METRIC.openedTime, { [ATTR.tool]: tool, [ATTR.errorType]: category }, '');
      if (withdrawn === undefined) this.#values.delete(opened);
      else this.#values.set(opened, withdrawn);
    }
  }

  /** Probes an open circuit: it closes, or opens again. */
  probe(tool: string, result: 'success' | Category, circuits = 1): void {
    this.#decide(tool, 'probe', 'probe_due', circuits);
    this.#outcome(tool, result, circuits, 0.1);
    this.#move(tool, 'open', 'half_open', circuits);
    this.#move(tool, 'half_open', result === 'success' ? 'closed' : 'open', circuits);
    if (result !== 'success') this.charge(circuits);
  }

  /** A call of one of its tools probes the group. */
  probeGroup(group: string, tool: string, result: 'success' | Category): void {
    this.#decide(tool, 'probe', 'group_probe_due', 1);
    this.#outcome(tool, result, 1, 0.1);
    this.#move(group, 'open', 'half_open', 1);
    this.#move(group, 'half_open', result === 'success' ? 'closed' : 'open', 1);
  }

  /** Moves circuits between states, by hand or between two scrapes. */
  move(tool: string, from: ReportedState, to: ReportedState, circuits = 1): void {
    this.#move(tool, from, to, circuits);
  }

  #move(tool: string, from: ReportedState, to: ReportedState, circuits: number): void {
    this.#add(METRIC.transitions, { [ATTR.tool]: tool, [ATTR.stateFrom]: from, [ATTR.stateTo]: to }, circuits);
    this.#circuit(tool, to, circuits);
    this.#circuit(tool, from, -circuits);
  }

  #circuit(tool: string, state: ReportedState, by: number): void {
    this.#add(METRIC.circuits, { [ATTR.tool]: tool, [ATTR.state]: state }, by);
    const isIn = (one: string): boolean =>
      (this.#values.get(this.#key(METRIC.circuits, { [ATTR.tool]: tool, [ATTR.state]: one }, '')) ?? 0) > 0;
    if (!['open', 'half_open', 'forced_open'].some(isIn))
      this.#values.delete(this.#key(METRIC.unavailableTime, { [ATTR.tool]: tool }, ''));
  }

  #decide(tool: string, decision: string, reason: string, calls: number): void {
    this.#add(METRIC.decisions, { [ATTR.tool]: tool, [ATTR.decision]: decision, [ATTR.reason]: reason }, calls);
  }

  #outcome(tool: string, result: 'success' | Category, calls: number, took: number): void {
    const on = { [ATTR.tool]: tool, [ATTR.outcome]: result === 'success' ? 'success' : 'failure' };
    this.#add(METRIC.outcomes, on, calls);
    if (result !== 'success') this.#add(METRIC.errors, { ...on, [ATTR.errorType]: result }, calls);
    const kind = result === 'success' ? {} : { [ATTR.errorType]: '_OTHER' };
    for (const bound of [...BOUNDS, Number.POSITIVE_INFINITY]) {
      const le = { le: bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound) };
      this.#add(METRIC.duration, { [ATTR.tool]: tool, ...kind, ...le }, took <= bound ? calls : 0, '_bucket');
    }
    this.#add(METRIC.duration, { [ATTR.tool]: tool, ...kind }, calls, '_count');
  }

  #add(metric: MetricDefinition, attributes: Labels, by: number, suffix = ''): void {
    const key = this.#key(metric, attributes, suffix);
    this.#values.set(key, (this.#values.get(key) ?? 0) + by);
  }

  #set(metric: MetricDefinition, attributes: Labels, to: number): void {
    this.#values.set(this.#key(metric, attributes, ''), to);
  }

  #key(metric: MetricDefinition, attributes: Labels, suffix: string): string {
    const all = Object.entries({ ...this.#base, ...attributes });
    return `${metric.prometheus}${suffix}{${all.map(([key, value]) => `${key.replaceAll('.', '_')}="${value}"`).join(', ')}}`;
  }
}

/** One process for each agent. */
export const agents = (names: readonly string[], options: ProcessOptions = {}): SimulatedProcess[] =>
  names.map((agent) => new SimulatedProcess({ ...options, agent }));

/** Several processes of one agent. */
export const instances = (names: readonly string[], options: ProcessOptions = {}): SimulatedProcess[] =>
  names.map((instance) => new SimulatedProcess({ ...options, instance }));
