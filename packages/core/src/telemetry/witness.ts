import type { Attributes, Span } from '@opentelemetry/api';
import { remaining } from '../budget.ts';
import type { Route } from '../capability/route.ts';
import type { ScopePlan } from '../capability/scope.ts';
import type { CircuitState } from '../circuit/circuit.ts';
import { type ReportedState, reportedState } from '../circuit/mode.ts';
import type { Clock } from '../clock.ts';
import type { Emitter } from '../emitter.ts';
import type { BreakerboxEvents, EventBase, RecoveredBy, RouteSummary } from '../events.ts';
import { type Ledger, type SessionState, sessionState } from '../ledger.ts';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import type { SessionPermit } from '../permit.ts';
import { REASONS, type Reason, wouldDecide } from '../reasons.ts';
import type { AcquireOptions } from '../session.ts';
import type { Judged } from '../settlement.ts';
import type { CircuitStore } from '../store.ts';
import type { SystemicEvent } from '../systemic.ts';
import { type Tallies, tallyDecision, tallyOf, tallyOutcome } from '../tally.ts';
import type { ToolSpec } from '../tool.ts';
import type { TrackedCircuit } from '../tracked.ts';
import { delist, enlist, followProviders, type LiveSession, metricsActive, recordDuration } from './hub.ts';
import { type LogEvents, logEvent } from './log-events.ts';
import {
  type AgentCells,
  countAvoided,
  countRoute,
  countWasted,
  openedTimeCell,
  outcomeCell,
  systemicCell,
  type ToolCells,
  transitionCell,
} from './metrics.ts';
import { reportThrown } from './safely.ts';
import { ATTR } from './semconv.ts';
import { describeSpan, endSpan, type SpanFacts, startDecisionSpan } from './spans.ts';

/** R2: of a route what telemetry may hold. */
const summaryOf = (route: Route): RouteSummary =>
  route.kind === 'alternative'
    ? { kind: route.kind, tool: route.tool, degradation: route.degradation }
    : { kind: route.kind, tool: undefined, degradation: undefined };

const routeAttributes = (route: Route): Attributes => ({
  [ATTR.route]: route.kind,
  ...(route.kind === 'alternative' && { [ATTR.routeTool]: route.tool, [ATTR.degradation]: route.degradation }),
});

/** An event that is still to be told. */
type News = { [Name in keyof BreakerboxEvents]: { name: Name; event: BreakerboxEvents[Name] } }[keyof BreakerboxEvents];

/** What one call of a session may cause to be told: a listener that acquires at each decision would never end. */
const MOST_NEWS = 1_000;

/** What a witness shares with those of the other sessions of its box. */
export interface WitnessContext {
  readonly agent: string;
  readonly clock: Clock;
  /** Unused for so long, a session leaves the gauges. */
  readonly idleMs: number;
  readonly cells: AgentCells;
  readonly emitter: Emitter<BreakerboxEvents>;
  /** Where undeclared tools are counted. */
  otherCells(): ToolCells;
}

/** Sees what a session decides and what comes of it, and tells metrics, spans, log and listeners. It decides nothing. */
export class SessionWitness implements LiveSession {
  readonly #box: WitnessContext;
  readonly #id: string;
  readonly #store: CircuitStore;
  #ledger: Ledger;
  #lastUsedMs = 0;
  /** The state under which the gauges count the session; undefined when they don't, for it has ended or idles. */
  #counted: SessionState | undefined;
  /** What listeners and log are still to be told: not before everything is in its new state. */
  readonly #news: News[] = [];
  /** What became of the calls of each tool, for reports. */
  readonly tallies: Tallies = new Map();
  #telling = false;

  constructor(box: WitnessContext, id: string, store: CircuitStore, ledger: Ledger) {
    this.#box = box;
    this.#id = id;
    this.#store = store;
    this.#ledger = ledger;
    // What a restored session had used up elsewhere was counted there.
    box.cells.budgetGranted.value += remaining(ledger.budget);
  }

  /** The session is in use: follows a meter provider that came late, and (re)enters the gauges. */
  inUse(ms: number): void {
    followProviders();
    this.#lastUsedMs = ms;
    if (this.#counted !== undefined) return;
    this.#counted = sessionState(this.#ledger);
    this.#countBy(1, this.#counted);
    enlist(this);
  }

  /** The session ended. */
  ended(): void {
    this.#leaveGauges();
    delist(this);
  }

  retireIfIdle(): boolean {
    const idles = this.#box.clock.now() - this.#lastUsedMs >= this.#box.idleMs;
    if (idles) this.#leaveGauges();
    return idles;
  }

  /** A circuit was made, or restored. */
  tracked({ tool, mode, circuit }: TrackedCircuit): void {
    tool.cells.circuits[reportedState(mode, circuit)].value += 1;
  }

  /** A decision is about to be given; the span that stands for it, where somebody traces. */
  decided(tool: string, spec: ToolSpec | undefined, reason: Reason, route: Route | undefined): Span | undefined {
    const cells = this.#toolCells(spec);
    const decision = REASONS[reason];
    cells.decisions[reason].value += 1;
    tallyDecision(tallyOf(this.tallies, tool), reason, route);
    if (route !== undefined) countRoute(cells, route);
    if (route?.kind === 'stale') cells.freshness.stale.value += 1;
    if (decision === 'skip') countAvoided(cells);
    if (this.#box.emitter.has('decision')) {
      this.#note('decision', { tool, decision, reason, route: route && summaryOf(route) });
    }
    return startDecisionSpan(decision, tool);
  }

  /** The permit of a decision is made: its span says what it says, and ends if there is no call to wait for. */
  permitted(permit: SessionPermit, options: AcquireOptions | undefined): void {
    const { span, decision, tool } = permit;
    if (span === undefined) return;
    describeSpan(span, decision, tool, () => this.#spanFacts(permit, options));
    if (!permit.executes) endSpan(span, undefined, false);
  }

  /** A call is over. */
  concluded(permit: SessionPermit, judged: Judged, late: boolean, ms: number): void {
    const { tool, spec, span, startMs, freshness } = permit;
    const { outcome, category, tokens, durationMs = ms - startMs } = judged;
    const cells = this.#toolCells(spec);
    outcomeCell(cells, outcome, category).value += 1;
    if (outcome === 'failure' && tokens !== undefined) countWasted(cells, tokens);
    if (freshness !== undefined) cells.freshness[freshness.kind].value += 1;
    tallyOutcome(tallyOf(this.tallies, tool), judged, freshness);
    if (metricsActive()) recordDuration(cells, category, durationMs / 1000);
    if (span !== undefined) endSpan(span, category, outcome === 'failure');
    if (this.#box.emitter.has('outcome')) {
      this.#note('outcome', { tool, outcome, category, late, tokens, freshness });
    }
  }

  /** A circuit changed its state, by itself or by hand. */
  moved({ tool }: TrackedCircuit, from: ReportedState, to: ReportedState, category: ErrorCategory | undefined): void {
    const { cells, name } = tool;
    transitionCell(cells, from, to).value += 1;
    cells.circuits[from].value -= 1;
    cells.circuits[to].value += 1;
    if (from === 'closed' && category !== undefined) {
      openedTimeCell(cells, category).value = this.#box.clock.unixNow() / 1000;
    }
    this.#note('circuit.transition', { tool: name, from, to, category, observed: false });
  }

  /** A circuit that is only observed would have changed its state: told, and not counted (C1). */
  shadowMoved(tool: string, from: CircuitState, to: CircuitState, category: ErrorCategory | undefined): void {
    this.#note('circuit.transition', { tool, from, to, category, observed: true });
  }

  /** The ledger changed. */
  wrote(next: Ledger): void {
    const { cells } = this.#box;
    cells.budgetGranted.value += next.budget.granted - this.#ledger.budget.granted;
    cells.budgetConsumed.value += next.budget.consumed - this.#ledger.budget.consumed;
    this.#ledger = next;
    const state = sessionState(next);
    if (this.#counted === undefined || this.#counted === state) return;
    cells.sessions[this.#counted].value -= 1;
    cells.sessions[state].value += 1;
    this.#counted = state;
  }

  /** The budget has run out. */
  exhausted(): void {
    const { limit, cycle } = this.#ledger.budget;
    this.#box.cells.budgetExhaustions.value += 1;
    this.#note('budget.exhausted', { limit, cycle });
  }

  /** Somebody let the session go on. */
  resumed(): void {
    const { limit, cycle } = this.#ledger.budget;
    this.#note('budget.resumed', { limit, cycle });
  }

  /** Several circuits were recognised as one event. */
  detected(event: SystemicEvent | undefined): void {
    if (event !== undefined) systemicCell(this.#box.cells, event.category).value += 1;
    this.joined(event);
  }

  /** The session is part of an event that another one, which shares its circuits, has been counted for (C12). */
  joined(event: SystemicEvent | undefined): void {
    if (event !== undefined) this.#note('systemic.detected', { event });
  }

  /** The event is over. */
  resolved(event: SystemicEvent, by: RecoveredBy): void {
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
   * Tells listeners and log what has happened, in order. A listener may call the session: what comes of that is told after
   * what happened before it.
   */
  tell(): void {
    if (this.#news.length === 0 || this.#telling) return;
    this.#telling = true;
    try {
      for (let told = 0; this.#news.length > 0; told += 1) this.#tellOne(told);
    } finally {
      this.#telling = false;
    }
  }

  #tellOne(told: number): void {
    const [{ name, event }] = this.#news.splice(0, 1) as [News];
    if (told >= MOST_NEWS) {
      this.#news.length = 0;
      const what = `It causes ever more events in the session; '${name}' and later ones are dropped.`;
      reportThrown('a listener', new Error(what));
      return;
    }
    this.#box.emitter.emit(name, event);
    if (name !== 'decision' && name !== 'outcome') logEvent(name, event as LogEvents[typeof name]);
  }

  #toolCells(spec: ToolSpec | undefined): ToolCells {
    return spec?.cells ?? this.#box.otherCells();
  }

  #leaveGauges(): void {
    if (this.#counted !== undefined) this.#countBy(-1, this.#counted);
    this.#counted = undefined;
  }

  #countBy(change: 1 | -1, state: SessionState): void {
    this.#box.cells.sessions[state].value += change;
    // Circuits that sessions share belong to their box, and stay in its gauges (C12).
    if (this.#store.board !== undefined) return;
    for (const { tool, mode, circuit } of this.#store.circuits.values()) {
      tool.cells.circuits[reportedState(mode, circuit)].value += change;
    }
  }

  #spanFacts(permit: SessionPermit, options: AcquireOptions | undefined): SpanFacts {
    const { tracked, reason, state, budgetRemaining, caution, route } = permit;
    return {
      attributes: {
        [ATTR.agent]: this.#box.agent,
        [ATTR.conversation]: this.#id,
        [ATTR.reason]: reason,
        [ATTR.budgetRemaining]: budgetRemaining,
        [ATTR.caution]: caution,
        ...(route && routeAttributes(route)),
        ...(options?.callId !== undefined && { [ATTR.callId]: options.callId }),
        ...(tracked && state && { [ATTR.state]: state, [ATTR.generation]: tracked.circuit.generation }),
      },
      causes: this.#causes(reason, tracked).flatMap((one) => one?.openedBy ?? []),
    };
  }

  /** The circuits that a decision answers to. */
  #causes(reason: Reason, tracked: TrackedCircuit | undefined): readonly (TrackedCircuit | undefined)[] {
    const decision = wouldDecide(reason);
    if (reason === 'systemic')
      return this.#ledger.event?.openings.map(({ tool }) => this.#store.circuits.get(tool)) ?? [];
    return decision === 'probe' || decision === 'skip' ? [tracked] : [];
  }

  /** Keeps an event until the end of what the session was called for. */
  #note<Name extends keyof BreakerboxEvents>(name: Name, details: Omit<BreakerboxEvents[Name], keyof EventBase>): void {
    const { agent, clock } = this.#box;
    const event = { agent, session: this.#id, unixMs: clock.unixNow(), ...details } as BreakerboxEvents[Name];
    this.#news.push({ name, event } as News);
  }
}
