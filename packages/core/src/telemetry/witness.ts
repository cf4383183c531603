import { type Context, ROOT_CONTEXT, type Tracer } from '@opentelemetry/api';
import { remaining } from '../budget/budget.ts';
import type { ScopePlan } from '../capability/scope.ts';
import type { CircuitState } from '../circuit/circuit.ts';
import { type ReportedState, reportedState } from '../circuit/mode.ts';
import type { Clock } from '../clock.ts';
import type { Emitter } from '../emitter.ts';
import type { BreakerboxEvents, EventBase, RecoveredBy } from '../events.ts';
import type { FreshnessLabel } from '../freshness.ts';
import type { Ledger, SessionState } from '../ledger.ts';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import type { SessionPermit } from '../permit.ts';
import { wouldDecide } from '../reasons.ts';
import { isFailing } from '../safe-clock.ts';
import type { NamedSession } from '../same-id.ts';
import type { SessionTool } from '../seats.ts';
import type { AcquireOptions } from '../session.ts';
import { type Judged, SUCCESS } from '../settlement.ts';
import type { CircuitStore } from '../store.ts';
import type { SystemicEvent } from '../systemic.ts';
import { tallyDecision, tallyLabel, tallyOutcome } from '../tally.ts';
import type { ToolSpec } from '../tool.ts';
import type { TrackedCircuit } from '../tracked.ts';
import { delist, enlist, type LiveSession, metricsActive, recordDuration } from './hub.ts';
import {
  type AgentCells,
  countAvoided,
  countRoute,
  countWasted,
  decisionCell,
  openedTimeCell,
  outcomeCell,
  systemicCell,
  type ToolCells,
  transitionCell,
  withdrawOpened,
} from './metrics.ts';
import { type News, summaryOf, tellAll } from './news.ts';
import { safely, warn } from './safely.ts';
import {
  currentTracer,
  describeSpan,
  endSessionSpan,
  endSpan,
  type SessionSpan,
  sessionContext,
  startDecisionSpan,
} from './spans.ts';

const NONE: readonly never[] = [];

/** The part of an observer that all sessions of its box share. */
export interface WitnessContext {
  readonly agent: string;
  readonly clock: Clock;
  /** Idle time in milliseconds after which a session leaves the gauges. */
  readonly idleMs: number;
  readonly cells: AgentCells;
  readonly emitter: Emitter<BreakerboxEvents>;
  /** The series that count undeclared tools. */
  otherCells(): ToolCells;
}

/** The interface by which the engine reports on its circuits and ledgers. A look ahead has an observer that does nothing (C11). */
export type Observer = Pick<
  SessionWitness,
  'tracked' | 'moved' | 'shadowMoved' | 'absorbed' | 'wrote' | 'exhausted' | 'resumed' | 'detected' | 'resolved'
>;

const nothing = (): void => {};

/** For a look ahead: nothing is sent to listeners, metrics or log. */
export const SILENT: Observer = {
  tracked: nothing,
  moved: nothing,
  shadowMoved: nothing,
  absorbed: nothing,
  wrote: nothing,
  exhausted: nothing,
  resumed: nothing,
  detected: nothing,
  resolved: nothing,
};

/** The numbers of a budget in the metrics. */
interface BudgetCounts {
  readonly limit: number;
  readonly remaining: number;
  readonly consumed: number;
}

const countsOf = ({ budget }: Ledger): BudgetCounts => ({
  limit: budget.limit,
  remaining: remaining(budget),
  consumed: budget.consumed,
});

const isLow = ({ limit, remaining: left }: BudgetCounts): boolean => left <= 1 && left < limit;

/** Observes the decisions and results of a session, and updates metrics, spans, log and listeners. It decides nothing. */
export class SessionWitness implements LiveSession {
  readonly #box: WitnessContext;
  readonly #id: string;
  readonly #store: CircuitStore;
  /** The span of the run, if it was requested. */
  readonly #span: SessionSpan | undefined;
  /** Undefined if the caller gave no id. */
  readonly #named: NamedSession | undefined;
  #ledger: Ledger;
  #lastUsedMs = 0;
  /** Used since then, at an unknown time: the clock isn't read for every call. */
  #used = false;
  /** The state under which the gauges count the session; undefined if they don't, because it has ended or is idle. */
  #counted: SessionState | undefined;
  #state: SessionState = 'active';
  /** Pending events for listeners and log. They are sent once everything is in its new state. */
  #news: News[] | undefined;
  #telling = false;

  /** Ended, and not used since (E7). */
  #ended = false;
  #toldOfEnd = false;
  #wasEnded = false;
  /** The numbers of its budget in the gauges. */
  #counts: BudgetCounts;
  /** Whether the budget has fallen to one failure, and has not been full since. */
  #isLow: boolean;

  constructor(
    box: WitnessContext,
    id: string,
    store: CircuitStore,
    ledger: Ledger,
    span: SessionSpan | undefined,
    named: NamedSession | undefined,
  ) {
    this.#box = box;
    this.#id = id;
    this.#store = store;
    this.#span = span;
    this.#named = named;
    this.#ledger = ledger;
    this.#counts = countsOf(ledger);
    // Failures that a restored session had used up elsewhere were counted there.
    this.#isLow = isLow(this.#counts);
  }

  /** The session is in use, and enters the gauges (again). A session that ended enters them only with its next decision (E7). */
  inUse(decides = false): void {
    this.#used = true;
    if (this.#ended && decides) this.#revive();
    if (decides && this.#named?.waits === true) this.#named.decides();
    if (this.#counted === undefined && !this.#ended) this.#enterGauges();
  }

  #revive(): void {
    this.#ended = false;
    if (this.#toldOfEnd) return;
    this.#toldOfEnd = true;
    warn(
      `session '${this.#id}' of agent '${this.#box.agent}' decides after end(). It goes on as before, and counts as live until it idles. If a stream outlives the code that made it, call end() when the stream finishes or is aborted.`,
    );
  }

  /** The time of the last use, if the clock was read. */
  usedAt(ms: number): void {
    this.#used = false;
    this.#lastUsedMs = ms;
  }

  /** The session ended. */
  ended(): void {
    this.#ended = true;
    this.#wasEnded = true;
    this.#leaveGauges();
    endSessionSpan(this.#span);
    delist(this);
  }

  /** A snapshot was taken: the session may continue elsewhere. */
  kept(): void {
    this.#named?.kept();
  }

  /** The context for what the session does now. */
  get context(): Context {
    return safely('the context manager', () => sessionContext(this.#span)) ?? ROOT_CONTEXT;
  }

  retireIfIdle(): boolean {
    const ms = safely('the clock of a session', () => this.#box.clock.now());
    if (this.#used && ms !== undefined) this.usedAt(ms); // It is idle from now on.
    // If its clock throws, the idle time is unknown. The session returns when it is used again.
    const idles = isFailing(this.#box.clock) || ms === undefined || ms - this.#lastUsedMs >= this.#box.idleMs;
    if (!idles) return false;
    this.#leaveGauges();
    endSessionSpan(this.#span);
    return true;
  }

  /** A circuit was created or restored. */
  tracked({ tool, mode, circuit }: TrackedCircuit): void {
    if (this.#countsCircuits) tool.cells.circuits[reportedState(mode, circuit)].value += 1;
  }

  /** Circuits that sessions share belong to their box, and stay in its gauges (C12). */
  get #countsCircuits(): boolean {
    return this.#store.steps !== undefined || this.#counted !== undefined;
  }

  /** C15: a group has absorbed this opening. Alerts see only the group's own opening. */
  absorbed({ tool, mode }: TrackedCircuit): void {
    if (mode !== 'observe_only') withdrawOpened(tool.cells);
  }

  /** A decision was made. Its span ends with it, if there is no call to wait for. */
  decided(permit: SessionPermit, options: AcquireOptions | undefined): void {
    const { seat, reason } = permit;
    if (reason === 'closed' && seat.spec !== undefined) {
      seat.spec.cells.decisions.closed.value += 1;
      seat.tally.closed += 1;
    } else this.#countDecision(permit);
    if (this.#box.emitter.heard.decision === true) this.#noteDecision(permit);
    const tracer = currentTracer();
    if (tracer !== undefined) this.#trace(tracer, permit, options);
    if (this.#news !== undefined) this.flush();
  }

  #countDecision({ seat, decision, reason, route }: SessionPermit): void {
    const cells = this.#toolCells(seat.spec);
    decisionCell(cells, decision, reason).value += 1;
    tallyDecision(seat.tally, reason, route);
    if (route === undefined) return;
    countRoute(cells, route);
    if (route.kind === 'stale') cells.freshness.stale.value += 1;
    if (decision === 'skip') countAvoided(cells);
  }

  #noteDecision({ tool, decision, reason, route }: SessionPermit): void {
    this.#note('decision', { tool, decision, reason, route: route && summaryOf(route) });
  }

  #trace(tracer: Tracer, permit: SessionPermit, options: AcquireOptions | undefined): void {
    const span = startDecisionSpan(tracer, permit, this.#span);
    if (span === undefined) return;
    describeSpan(span, permit, this.#box.agent, this.#id, options, this.#causes(permit), this.#wasEnded);
    if (!permit.executes) endSpan(span);
  }

  /** A call is over. */
  concluded(permit: SessionPermit, judged: Judged, late: boolean, ms: number): void {
    if (judged === SUCCESS) this.#countSuccess(permit.seat);
    else this.#countOutcome(permit.seat, judged);
    if (metricsActive()) this.#measure(permit, judged, ms);
    if (permit.span !== undefined) endSpan(permit.span, judged);
    if (permit.freshness !== undefined) this.#countLabel(permit.seat, permit.freshness);
    if (this.#box.emitter.heard.outcome === true) this.#noteOutcome(permit, judged, late);
  }

  #countSuccess({ spec, tally }: SessionTool): void {
    const cell = spec === undefined ? outcomeCell(this.#box.otherCells(), 'success', undefined) : spec.successes;
    cell.value += 1;
    tally.succeeded += 1;
  }

  #countOutcome({ spec, tally }: SessionTool, judged: Judged): void {
    const { outcome, category, tokens } = judged;
    const cells = this.#toolCells(spec);
    outcomeCell(cells, outcome, category).value += 1;
    if (outcome === 'failure' && tokens !== undefined) countWasted(cells, tokens);
    tallyOutcome(tally, judged);
  }

  #countLabel({ spec, tally }: SessionTool, { kind }: FreshnessLabel): void {
    this.#toolCells(spec).freshness[kind].value += 1;
    tallyLabel(tally, kind);
  }

  #measure({ seat, span, at }: SessionPermit, judged: Judged, ms: number): void {
    const { outcome, category, durationMs = ms - at.ms } = judged;
    const cells = this.#toolCells(seat.spec);
    const failed = outcome === 'failure' ? outcomeCell(cells, outcome, category) : undefined;
    recordDuration(cells, category, durationMs / 1000, span, failed);
  }

  #noteOutcome({ tool, freshness }: SessionPermit, { outcome, category, tokens }: Judged, late: boolean): void {
    this.#note('outcome', { tool, outcome, category, late, tokens, freshness });
  }

  /** A circuit changed its state, by itself or by hand. */
  moved({ tool }: TrackedCircuit, from: ReportedState, to: ReportedState, category: ErrorCategory | undefined): void {
    const { cells, name } = tool;
    transitionCell(cells, from, to).value += 1;
    if (this.#countsCircuits) {
      cells.circuits[from].value -= 1;
      cells.circuits[to].value += 1;
    }
    if (from === 'closed' && category !== undefined) {
      openedTimeCell(cells, category).value = this.#box.clock.unixNow() / 1000;
    }
    this.#note('circuit.transition', { tool: name, from, to, category, observed: false });
  }

  /** A circuit that is only observed would have changed its state: reported, but not counted (C1). */
  shadowMoved(tool: string, from: CircuitState, to: CircuitState, category: ErrorCategory | undefined): void {
    this.#note('circuit.transition', { tool, from, to, category, observed: true });
  }

  /** The ledger may have changed, and with it the reported state of the session. */
  wrote(next: Ledger, state: SessionState): void {
    this.#state = state;
    if (next !== this.#ledger) this.#countBudget(next);
    if (this.#counted === undefined || this.#counted === state) return;
    const { sessions } = this.#box.cells;
    sessions[this.#counted].value -= 1;
    sessions[state].value += 1;
    this.#counted = state;
  }

  #countBudget(next: Ledger): void {
    const { cells } = this.#box;
    const before = this.#counts;
    const now = countsOf(next);
    this.#ledger = next;
    this.#counts = now;
    cells.budgetConsumed.value += now.consumed - before.consumed;
    if (this.#counted !== undefined) cells.budgetRemaining.value += now.remaining - before.remaining;
    if (now.remaining === now.limit) this.#isLow = false;
    else if (!this.#isLow && isLow(now)) {
      this.#isLow = true;
      cells.budgetLow.value += 1;
    }
  }

  /** The budget has run out. */
  exhausted(): void {
    const { limit, cycle } = this.#ledger.budget;
    this.#box.cells.budgetExhaustions.value += 1;
    this.#note('budget.exhausted', { limit, cycle });
  }

  /** The session was resumed. */
  resumed(): void {
    const { limit, cycle } = this.#ledger.budget;
    this.#note('budget.resumed', { limit, cycle });
  }

  /** Several circuits were detected as one event. */
  detected(event: SystemicEvent | undefined): void {
    if (event === undefined) return;
    systemicCell(this.#box.cells, event.category).value += 1;
    if (this.#countsCircuits) this.#box.cells.systemicActive.value += 1;
    this.#note('systemic.detected', { event });
  }

  /** The event is over. */
  resolved(event: SystemicEvent, by: RecoveredBy): void {
    if (this.#countsCircuits) this.#box.cells.systemicActive.value -= 1;
    this.#note('systemic.resolved', { event, by });
  }

  /** Tasks were split into those that can be done and those that have to wait (W2). */
  planned(plan: ScopePlan): void {
    const { achievable, deferred } = plan;
    this.#box.cells.tasks.achievable.value += achievable.length;
    this.#box.cells.tasks.deferred.value += deferred.length;
    const isReduced = deferred.length > 0 || achievable.some(({ degraded }) => degraded.length > 0);
    if (isReduced) this.#note('scope.reduced', { plan });
  }

  /**
   * Sends pending events to listeners and log, in order. A listener may call the session: events from that are sent after the
   * earlier ones.
   */
  flush(): void {
    if (this.#news !== undefined && !this.#telling) this.#tellAll(this.#news);
  }

  #tellAll(news: News[]): void {
    this.#telling = true;
    try {
      tellAll(news, this.#box.emitter);
    } finally {
      this.#telling = false;
      this.#news = undefined;
    }
  }

  #toolCells(spec: ToolSpec | undefined): ToolCells {
    return spec?.cells ?? this.#box.otherCells();
  }

  #enterGauges(): void {
    this.#counted = this.#state;
    this.#countBy(1, this.#state);
    enlist(this);
  }

  #leaveGauges(): void {
    if (this.#counted !== undefined) this.#countBy(-1, this.#counted);
    this.#counted = undefined;
    this.#named?.left();
  }

  #countBy(change: 1 | -1, state: SessionState): void {
    const { cells } = this.#box;
    const { limit, remaining: left } = this.#counts;
    cells.sessions[state].value += change;
    cells.budgetLimit.value += change * limit;
    cells.budgetRemaining.value += change * left;
    // Shared circuits belong to their box, and stay in its gauges (C12).
    const { steps, circuits, correlations } = this.#store;
    if (steps !== undefined) return;
    if (correlations.real.correlation.event !== undefined) cells.systemicActive.value += change;
    for (const { tool, mode, circuit } of circuits.values()) {
      tool.cells.circuits[reportedState(mode, circuit)].value += change;
    }
  }

  /** The circuits that caused a decision. */
  #causes({ reason, seat, held }: SessionPermit): readonly TrackedCircuit[] {
    if (reason === 'closed' || reason === 'key_open' || reason === 'key_probe_due') return NONE;
    if (reason === 'systemic') {
      const openings = held?.event?.openings ?? NONE;
      return openings.flatMap(({ tool }) => this.#store.circuits.get(tool) ?? []);
    }
    if (reason === 'group_open' || reason === 'group_probe_due') return seat.group === undefined ? NONE : [seat.group];
    const decision = wouldDecide(reason);
    return (decision === 'probe' || decision === 'skip') && seat.tracked !== undefined ? [seat.tracked] : NONE;
  }

  /** Keeps an event until the end of the call to the session. */
  #note<Name extends keyof BreakerboxEvents>(name: Name, details: Omit<BreakerboxEvents[Name], keyof EventBase>): void {
    const { agent, clock } = this.#box;
    const event = { agent, session: this.#id, unixMs: clock.unixNow(), ...details } as BreakerboxEvents[Name];
    this.#news ??= [];
    this.#news.push({ name, event } as News);
  }
}
