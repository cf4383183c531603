import { type Context, ROOT_CONTEXT, type Span, type SpanContext, type Tracer } from '@opentelemetry/api';
import { NO_LIMIT, remaining } from '../budget/budget.ts';
import { type Ledger, type SessionState, withLimits } from '../budget/ledger.ts';
import type { SystemicEvent } from '../budget/systemic.ts';
import { askedWaitOf, type Circuit, type ReportedState, reportedState } from '../circuit/circuit.ts';
import type { CircuitStore } from '../circuit-store.ts';
import type { Clock } from '../clock.ts';
import type { BreakerboxEvents, Emitter, EventBase, RecoveredBy } from '../events.ts';
import { isPausedByLimit, type LimitChange } from '../limits/limit-changes.ts';
import type { Spent } from '../limits/limit-view.ts';
import type { Run } from '../limits/run.ts';
import type { NamedSession } from '../mistakes.ts';
import type { Judged } from '../outcome.ts';
import type { Change } from '../pending-changes.ts';
import type { SessionPermit } from '../permit.ts';
import { wouldDecide } from '../reasons.ts';
import type { RejectionFacts } from '../routing/message.ts';
import type { ScopePlan } from '../routing/route.ts';
import { safely, warn } from '../safely.ts';
import type { AcquireOptions } from '../session-api.ts';
import type { CircuitSpec } from '../tool.ts';
import { ChildSpans, childAttributes } from './child-spans.ts';
import { countSession, countUntilIdle, type GaugeShare, idles, type LastUse } from './dropped-session.ts';
import { failureOf, failureOfKey, noteFailure } from './failure-spans.ts';
import { type PendingEvent, sendPending, summaryOf } from './logs.ts';
import { delist, enlist, followProviders, type LiveSession, recordDuration } from './otel-binding.ts';
import { processState } from './readers.ts';
import { ATTR } from './semconv.ts';
import {
  type AgentSeries,
  countAvoided,
  countCircuits,
  countUnavailable,
  countWasted,
  noteCircuit,
  type Series,
  seriesOf,
  systemicSeries,
  type ToolSeries,
  type UnavailableCircuits,
  withdrawOpenings,
} from './series.ts';
import type { SharedGauges } from './shared-gauges.ts';
import {
  describeSpan,
  endSessionSpan,
  endSpan,
  type SessionSpan,
  sessionContext,
  startDecisionSpan,
  traceResume,
} from './spans.ts';

const ofProcess = processState();

const NONE: readonly never[] = [];

/** What the metrics count of a limit, by its mode. */
const LEVELS = {
  pause: { advised: 'advised', reached: 'reached', lifted: undefined },
  advise: { advised: 'advised', reached: 'observed', lifted: undefined },
  observe: { advised: undefined, reached: 'observed', lifted: undefined },
} as const;

/** O3: whether the service asked the key of a call to wait. */
const isOfAskedWait = ({ key, at }: RejectionFacts): boolean => {
  if (key === undefined) return false;
  const { notBeforeMs, isAsked } = askedWaitOf(key.circuit, key.policy);
  return isAsked && notBeforeMs > at.ms;
};

const contextOf = (span: SessionSpan | undefined): Context =>
  safely('the context manager', () => sessionContext(span)) ?? ROOT_CONTEXT;

/** The part of an observer that all sessions of its box share. */
export interface TelemetryContext {
  readonly agent: string;
  readonly clock: Clock;
  /** Idle time in milliseconds after which a session leaves the gauges. */
  readonly idleMs: number;
  readonly series: AgentSeries;
  readonly emitter: Emitter<BreakerboxEvents>;
  /** Of the circuits that its sessions share. */
  readonly sharedGauges: SharedGauges;
  /** The series that count undeclared tools. */
  otherSeries(): ToolSeries;
  /** Undefined: no span is made for a decision. */
  tracer(): Tracer | undefined;
}

/** The numbers of a budget in the metrics. */
interface BudgetCounts {
  readonly limit: number;
  readonly remaining: number;
  readonly consumed: number;
}

/** A budget that is off is not part of the gauges (B7). */
const countsOf = ({ budget }: Ledger): BudgetCounts => ({
  limit: budget.limit === NO_LIMIT ? 0 : budget.limit,
  remaining: budget.limit === NO_LIMIT ? 0 : remaining(budget),
  consumed: budget.consumed,
});

const isLow = ({ limit, remaining: left }: BudgetCounts): boolean => left <= 1 && left < limit;

/**
 * Puts what a session does into metrics, spans, log and listeners. It decides nothing, and while a session decides and settles, it asks this
 * nothing: decisions are the same without telemetry.
 */
export class SessionTelemetry implements LiveSession {
  readonly #box: TelemetryContext;
  readonly #id: string;
  readonly #store: CircuitStore;
  /** The span of the run, if it was requested. */
  readonly #span: SessionSpan | undefined;
  /** Those of its sub-agents; undefined without any. */
  #children: ChildSpans | undefined;
  /** Its circuits that keep calls from their tools. Undefined before the first one, and if sessions share their circuits. */
  #unavailable: UnavailableCircuits | undefined;
  /** Undefined if the caller gave no id. */
  readonly #named: NamedSession | undefined;
  #ledger: Ledger;
  #lastUsedMs = 0;
  /** The state under which the gauges count the session; undefined if they don't, because it has ended or is idle. */
  #counted: SessionState | undefined;
  /** By the failure budget and systemic failures alone. */
  #byFailures: SessionState = 'active';
  /** A limit pauses it (D2). */
  #isOver = false;
  #state: SessionState = 'active';
  /** Pending events for listeners and log. They are sent once everything is in its new state. */
  pending: PendingEvent[] | undefined;
  #isSending = false;

  /** Ended, and not used since (E7). */
  #ended = false;
  #toldOfEnd = false;
  #wasEnded = false;
  /** How many calls it ran and rejected, for its span. */
  #calls = 0;
  #rejected = 0;
  /** The numbers of its budget in the gauges. */
  #counts: BudgetCounts;
  /** Whether the budget has fallen to one failure, and has not been full since. */
  #isLow: boolean;

  constructor(
    box: TelemetryContext,
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

  /**
   * The session is in use at `ms` (monotonic). One that ended enters the gauges again only with its next decision (E7). Returns whether it
   * lives.
   */
  used(ms: number, decides: boolean): boolean {
    followProviders();
    this.#lastUsedMs = ms;
    if (this.#ended && decides) this.#revive();
    if (decides && this.#named?.waits === true) this.#named.decides();
    if (this.#ended) return false;
    if (this.#counted === undefined) this.#enterGauges();
    return true;
  }

  #revive(): void {
    this.#ended = false;
    if (this.#toldOfEnd) return;
    this.#toldOfEnd = true;
    warn(
      `session '${this.#id}' of agent '${this.#box.agent}' is used after end(). It still works, and metrics count it as live until it is idle. If a stream runs longer than the code that started it, call end() when the stream finishes or is aborted.`,
    );
  }

  /** The run is over. */
  ended(): void {
    this.#ended = true;
    this.#wasEnded = true;
    this.#leaveGauges();
    this.#endSpan();
    delist(this);
  }

  /** A snapshot was taken. */
  wasKept(): void {
    this.#named?.kept();
  }

  get context(): Context {
    return contextOf(this.#span);
  }

  /** D1: the context of a sub-agent. */
  contextFor(run: Run): Context {
    return contextOf(this.#children?.of(run) ?? this.#span);
  }

  childBegan(run: Run): void {
    if (this.#span === undefined) return;
    this.#children ??= new ChildSpans(this.#span, this.#box.agent, this.#id);
    this.#children.begin(run);
  }

  childEnded(run: Run): void {
    this.#children?.end(run, isPausedByLimit(run));
  }

  /** The program has dropped a session that shares its circuits. It stays in the gauges until it is idle, but its box need not (C12). */
  dropped(): void {
    if (this.#counted === undefined) return;
    delist(this);
    this.#endSpan();
    countUntilIdle(this.#share(this.#counted), this.#use(), this.#named);
  }

  retireIfIdle(): boolean {
    if (!idles(this.#use())) return false;
    this.#leaveGauges();
    this.#endSpan();
    return true;
  }

  #endSpan(): void {
    this.#children?.endAll();
    endSessionSpan(this.#span, this.#state, this.#ended, () => ({
      [ATTR.calls]: this.#calls,
      [ATTR.rejected]: this.#rejected,
      [ATTR.budgetRemaining]: this.#counts.remaining,
    }));
  }

  /** Circuits or ledgers have changed. */
  changed(change: Change): void {
    switch (change.is) {
      case 'tracked':
        this.#countCircuit(change.tool, change.state, change.circuit);
        break;
      case 'moved':
        this.#moved(change);
        break;
      case 'absorbed':
        withdrawOpenings(change.tool.series); // C15: its openings are those of its group now.
        break;
      case 'wrote':
        this.#wrote(change.ledger, change.state);
        break;
      case 'exhausted': {
        const { limit, cycle } = this.#ledger.budget;
        seriesOf(this.#box.series, 'budgetExhaustions').value += 1;
        this.#note('budget.exhausted', { limit, cycle });
        break;
      }
      case 'resumed': {
        const { limit, cycle } = this.#ledger.budget;
        if (change.isChange) traceResume('resume', this.#box.agent, this.#id, this.#span);
        this.#note('budget.resumed', { limit, cycle });
        break;
      }
      case 'detected':
        systemicSeries(this.#box.series, change.event).value += 1;
        for (const tool of new Set(change.event.openings.map((one) => one.tool))) {
          const series = this.#box.series.tools.get(tool);
          if (series !== undefined) seriesOf(series, 'systemicTools').value += 1;
        }
        this.#countEvents(1);
        this.#note('systemic.detected', { event: change.event });
        break;
      case 'resolved':
        this.#resolved(change.event, change.by);
        break;
      case 'limit':
        this.limited(change.isOver);
        this.#noteLimit(change.limitChange);
        break;
      case 'extended': {
        const { session, from, to } = change.extended;
        this.#note('limit.extended', { limit: change.limit, child: this.#childOf(session), from, to });
        break;
      }
      case 'spent':
        this.#spent(change.spent);
        break;
      case 'circled':
        seriesOf(this.#box.series, 'circles').value += 1;
        break;
      case 'planned':
        this.#planned(change.plan);
        break;
      default:
        change satisfies never;
    }
  }

  /** Circuits that sessions share belong to their box, and stay in its gauges (C12). */
  #countCircuit(tool: CircuitSpec, state: ReportedState, circuit: Circuit, from?: ReportedState): void {
    const { clock, sharedGauges } = this.#box;
    if (this.#store.steps !== undefined) {
      sharedGauges.countCircuit(tool, state, circuit, clock, from);
      return;
    }
    if (this.#counted !== undefined) countCircuits(tool.series, state, 1);
    if (this.#counted !== undefined && from !== undefined) countCircuits(tool.series, from, -1);
    if (this.#unavailable === undefined && state === 'closed') return;
    this.#unavailable ??= new Map();
    noteCircuit(this.#unavailable, tool, state, circuit, clock, this.#counted !== undefined);
  }

  #countEvents(change: number): void {
    if (this.#store.steps !== undefined) this.#box.sharedGauges.countEvents(change);
    else if (this.#counted !== undefined) seriesOf(this.#box.series, 'systemicActive').value += change;
  }

  /** A decision was made in a step of the session. `permit` may be given a span. */
  decided(permit: SessionPermit, options: AcquireOptions | undefined, step: number): void {
    const { entry, reason } = permit;
    if (reason === 'closed' && entry.spec !== undefined) entry.spec.series.closed.value += 1;
    else this.#countDecision(permit);
    if (this.#box.emitter.heard.decision === true) {
      const { tool, decision, route } = permit;
      this.#note('decision', { tool, decision, reason, route: route && summaryOf(route) });
    }
    if (permit.executes) {
      this.#calls += 1;
      if (permit.limits !== undefined) seriesOf(this.#box.series, 'spentCalls').value += 1; // D7
    } else this.#rejected += 1;
    const tracer = this.#box.tracer();
    if (tracer !== undefined) this.#trace(tracer, permit, options, step);
    if (this.pending !== undefined) this.flush(permit.span);
  }

  #countDecision({ entry, decision, reason, route, rejection }: SessionPermit): void {
    const series = entry.spec?.series ?? this.#box.otherSeries();
    seriesOf(series, 'decisions', decision, reason).value += 1;
    if (reason === 'key_open' && rejection !== undefined && isOfAskedWait(rejection)) {
      seriesOf(series, 'skipsWaiting').value += 1;
    }
    if (route === undefined) return;
    seriesOf(series, 'routes', route.kind, route.kind === 'alternative' ? route.degradation : undefined).value += 1;
    if (route.kind === 'stale') seriesOf(series, 'freshness', 'stale').value += 1;
    if (decision === 'skip') countAvoided(series);
  }

  #trace(tracer: Tracer, permit: SessionPermit, options: AcquireOptions | undefined, step: number): void {
    const run = permit.limits?.run;
    const around = run === undefined ? this.#span : (this.#children?.of(run) ?? this.#span);
    const span = startDecisionSpan(tracer, permit, this.#box.agent, around);
    if (span === undefined) return;
    if (run?.parent !== undefined) safely('the span', () => span.setAttributes(childAttributes(run)));
    describeSpan(span, permit, { id: this.#id, step, ended: this.#wasEnded }, options, this.#causes(permit));
    if (!permit.executes) endSpan(span);
  }

  /** A call is over. `late`: its circuit has moved on, so the result changes no circuit and no budget (C7). */
  concluded(permit: SessionPermit, judged: Judged, late: boolean, durationMs: number): void {
    const { entry, span, freshness } = permit;
    const { outcome, category, tokens } = judged;
    const series = entry.spec?.series ?? this.#box.otherSeries();
    const isOfKey = judged.blames === 'key';
    let failed: Series | undefined;
    if (outcome === 'success') series.succeeded.value += 1;
    else {
      seriesOf(series, 'outcomes', outcome).value += 1;
      failed = seriesOf(series, 'errors', outcome, category ?? 'unknown', isOfKey ? 'key' : undefined);
      failed.value += 1;
    }
    if (outcome === 'failure' && tokens !== undefined) countWasted(series, tokens);
    if (ofProcess.keepsDurations || ofProcess.feedsSdk) {
      recordDuration(series, category, durationMs / 1000, span, outcome === 'failure' ? failed : undefined);
    }
    if (span !== undefined) {
      if (outcome === 'failure' || isOfKey) noteFailure(permit, span);
      endSpan(span, judged);
    }
    if (freshness !== undefined) seriesOf(series, 'freshness', freshness.kind).value += 1;
    if (this.#box.emitter.heard.outcome === true) {
      this.#note('outcome', { tool: entry.tool, outcome, category, late, tokens, freshness });
    }
  }

  #moved({ tool, from, to, circuit, category, isObserved }: Extract<Change, { is: 'moved' }>): void {
    if (!isObserved) {
      const { series } = tool;
      seriesOf(series, 'transitions', from, to).value += 1;
      this.#countCircuit(tool, to, circuit, from);
      const isOpening = from === 'closed' && category !== undefined;
      if (isOpening) seriesOf(series, 'openedTime', category).value = this.#box.clock.unixNow() / 1000;
    }
    this.#note('circuit.transition', { tool: tool.name, from, to, category, observed: isObserved });
  }

  #wrote(next: Ledger, state: SessionState): void {
    this.#byFailures = state;
    if (next !== this.#ledger) this.#countBudget(next);
    this.#show();
  }

  /** D2: whether a limit pauses the session. */
  limited(isOver: boolean): void {
    this.#isOver = isOver;
    this.#show();
  }

  /** The state that the gauges show. */
  #show(): void {
    const state = withLimits(this.#byFailures, this.#isOver);
    this.#state = state;
    if (this.#counted === undefined || this.#counted === state) return;
    seriesOf(this.#box.series, 'sessions', this.#counted).value -= 1;
    seriesOf(this.#box.series, 'sessions', state).value += 1;
    this.#counted = state;
  }

  #countBudget(next: Ledger): void {
    const { series } = this.#box;
    const before = this.#counts;
    const now = countsOf(next);
    this.#ledger = next;
    this.#counts = now;
    seriesOf(series, 'budgetConsumed').value += now.consumed - before.consumed;
    if (this.#counted !== undefined) seriesOf(series, 'budgetRemaining').value += now.remaining - before.remaining;
    if (now.remaining === now.limit) this.#isLow = false;
    else if (!this.#isLow && isLow(now)) {
      this.#isLow = true;
      seriesOf(series, 'budgetLow').value += 1;
    }
  }

  #resolved(event: SystemicEvent, by: RecoveredBy): void {
    this.#countEvents(-1);
    if (by !== 'probe' && by !== 'time') traceResume('confirm', this.#box.agent, this.#id, this.#span);
    this.#note('systemic.resolved', { event, by });
  }

  #spent({ tokens = 0, cost = 0, currency }: Spent): void {
    const { series } = this.#box;
    if (tokens > 0) seriesOf(series, 'spentTokens').value += tokens;
    if (cost > 0) seriesOf(series, 'spentCost', currency).value += cost;
  }

  /** D7: a limit that pauses nothing is counted apart once it is reached. */
  #noteLimit({ is, isFirst, limit: view }: LimitChange): void {
    const { limit, session, used, kept, size, currency, mode } = view;
    const level = LEVELS[mode][is];
    if (isFirst && level !== undefined) seriesOf(this.#box.series, 'limits', limit, level).value += 1;
    const child = this.#childOf(session);
    this.#note(`limit.${is}`, { limit, child, used, ...(kept !== undefined && { kept }), size, currency, mode });
  }

  /** Undefined for the session itself. */
  #childOf(session: string): string | undefined {
    return session === this.#id ? undefined : session;
  }

  #planned(plan: ScopePlan): void {
    const { achievable, deferred } = plan;
    const counts = { achievable: achievable.length, deferred: deferred.length };
    for (const one of ['achievable', 'deferred'] as const) {
      if (counts[one] > 0) seriesOf(this.#box.series, 'tasks', one).value += counts[one];
    }
    const isReduced = deferred.length > 0 || achievable.some(({ degraded }) => degraded.length > 0);
    if (isReduced) this.#note('scope.reduced', { plan });
  }

  /**
   * The state of the session is complete: listeners and log may now get the events. A listener may call the session: events from that are
   * sent after the earlier ones. `span`: of the decision that caused them.
   */
  flush(span?: Span): void {
    if (this.pending !== undefined && !this.#isSending) this.#sendAll(this.pending, span);
  }

  #sendAll(pending: PendingEvent[], span: Span | undefined): void {
    this.#isSending = true;
    try {
      sendPending(pending, this.#box.emitter, span);
    } finally {
      this.#isSending = false;
      this.pending = undefined;
    }
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

  #share(state: SessionState): GaugeShare {
    const { limit, remaining: left } = this.#counts;
    return { series: this.#box.series, state, limit, remaining: left };
  }

  #use(): LastUse {
    const { clock, idleMs } = this.#box;
    return { clock, idleMs, lastUsedMs: this.#lastUsedMs };
  }

  #countBy(change: 1 | -1, state: SessionState): void {
    countSession(this.#share(state), change);
    // Shared circuits belong to their box, and stay in its gauges (C12).
    const { steps, circuits, correlations } = this.#store;
    if (steps !== undefined) return;
    if (correlations.real.correlation.event !== undefined) seriesOf(this.#box.series, 'systemicActive').value += change;
    for (const { tool, mode, circuit } of circuits.values()) {
      countCircuits(tool.series, reportedState(mode, circuit), change);
    }
    if (this.#unavailable !== undefined) countUnavailable(this.#unavailable, change > 0);
  }

  /** The failures that caused a decision. */
  #causes(permit: SessionPermit): readonly (SpanContext | undefined)[] {
    const { reason, entry, rejection } = permit;
    if (reason === 'closed') return NONE;
    if (reason === 'key_open' || reason === 'key_probe_due') return [failureOfKey(permit)];
    if (reason === 'systemic') {
      const openings = rejection?.event?.openings ?? NONE;
      return openings.map(({ tool }) => {
        const tracked = this.#store.circuits.get(tool);
        return tracked && failureOf(tracked);
      });
    }
    if (reason === 'group_open' || reason === 'group_probe_due') return [entry.group?.openedBy];
    const decision = wouldDecide(reason);
    return decision === 'probe' || decision === 'skip' ? [entry.tracked?.openedBy] : NONE;
  }

  /** Keeps an event until the end of the call to the session. */
  #note<Name extends keyof BreakerboxEvents>(name: Name, details: Omit<BreakerboxEvents[Name], keyof EventBase>): void {
    const { agent, clock } = this.#box;
    const event = { agent, session: this.#id, unixMs: clock.unixNow(), ...details } as BreakerboxEvents[Name];
    this.pending ??= [];
    this.pending.push({ name, event } as PendingEvent);
  }
}
