import type { Span } from '@opentelemetry/api';
import { remaining } from '../budget.ts';
import type { CircuitState } from '../circuit/circuit.ts';
import { type ReportedState, reportedState } from '../circuit/mode.ts';
import type { Clock } from '../clock.ts';
import type { Emitter } from '../emitter.ts';
import type { BreakerboxEvents, EventBase } from '../events.ts';
import { type Ledger, type SessionState, sessionState } from '../ledger.ts';
import type { ErrorCategory } from '../outcome/taxonomy.ts';
import type { SessionPermit } from '../permit.ts';
import { REASONS, type Reason, wouldDecide } from '../reasons.ts';
import type { AcquireOptions } from '../session.ts';
import type { Judged } from '../settlement.ts';
import type { SystemicEvent } from '../systemic.ts';
import type { TrackedCircuit } from '../tracked.ts';
import { delist, enlist, type LiveSession, metricsActive, recordDuration, syncMetrics } from './hub.ts';
import { type LogEvents, logEvent } from './log-events.ts';
import {
  type AgentCells,
  openedTimeCell,
  outcomeCell,
  systemicCell,
  type ToolCells,
  transitionCell,
} from './metrics.ts';
import { ATTR } from './semconv.ts';
import { describeSpan, endSpan, type SpanFacts, startDecisionSpan } from './spans.ts';

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
  readonly #circuits: ReadonlyMap<string, TrackedCircuit>;
  #ledger: Ledger;
  #lastUsedMs = 0;
  /** The state under which the gauges count the session; undefined when they don't, for it has ended or idles. */
  #counted: SessionState | undefined;
  /** Running out is an event, being out is not. */
  #exhausted: boolean;

  constructor(box: WitnessContext, id: string, circuits: ReadonlyMap<string, TrackedCircuit>, ledger: Ledger) {
    this.#box = box;
    this.#id = id;
    this.#circuits = circuits;
    this.#ledger = ledger;
    // What a restored session had used up elsewhere was counted there.
    box.cells.budgetGranted.value += remaining(ledger.budget);
    this.#exhausted = remaining(ledger.budget) === 0;
  }

  /** The session is in use: follows a meter provider that came late, and (re)enters the gauges. */
  inUse(ms: number): void {
    syncMetrics();
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
  decided(tool: string, reason: Reason, tracked: TrackedCircuit | undefined): Span | undefined {
    this.#toolCells(tracked).decisions[reason].value += 1;
    const decision = REASONS[reason];
    if (this.#box.emitter.has('decision')) {
      this.#box.emitter.emit('decision', { ...this.#eventBase(), tool, decision, reason });
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
  concluded({ tool, tracked, span, startMs }: SessionPermit, judged: Judged, late: boolean, ms: number): void {
    const { outcome, category } = judged;
    const cells = this.#toolCells(tracked);
    outcomeCell(cells, outcome, category).value += 1;
    if (metricsActive()) recordDuration(cells, category, (ms - startMs) / 1000);
    if (span !== undefined) endSpan(span, category, outcome === 'failure');
    if (this.#box.emitter.has('outcome')) {
      this.#box.emitter.emit('outcome', { ...this.#eventBase(), tool, outcome, category, late });
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
    this.#announce('circuit.transition', { tool: name, from, to, category, observed: false });
  }

  /** A circuit that is only observed would have changed its state: told, and not counted (C1). */
  shadowMoved(tool: string, from: CircuitState, to: CircuitState, category: ErrorCategory | undefined): void {
    this.#announce('circuit.transition', { tool, from, to, category, observed: true });
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

  /** Told once all consequences of a failure are known: a systemic event gives back what the last failure took. */
  settledBudget(): void {
    const { budget } = this.#ledger;
    const exhausted = remaining(budget) === 0;
    if (exhausted && !this.#exhausted) {
      this.#box.cells.budgetExhaustions.value += 1;
      this.#announce('budget.exhausted', { limit: budget.limit, cycle: budget.cycle });
    }
    this.#exhausted = exhausted;
  }

  /** Somebody let the session go on. */
  resumed(): void {
    const { limit, cycle } = this.#ledger.budget;
    this.#exhausted = false;
    this.#announce('budget.resumed', { limit, cycle });
  }

  /** Several circuits were recognised as one event. */
  detected(event: SystemicEvent): void {
    systemicCell(this.#box.cells, event.category).value += 1;
    this.#announce('systemic.detected', { event });
  }

  /** Somebody said that the event is over. */
  resolved(event: SystemicEvent): void {
    this.#announce('systemic.resolved', { event });
  }

  #toolCells(tracked: TrackedCircuit | undefined): ToolCells {
    return tracked?.tool.cells ?? this.#box.otherCells();
  }

  #leaveGauges(): void {
    if (this.#counted !== undefined) this.#countBy(-1, this.#counted);
    this.#counted = undefined;
  }

  #countBy(change: 1 | -1, state: SessionState): void {
    this.#box.cells.sessions[state].value += change;
    for (const { tool, mode, circuit } of this.#circuits.values()) {
      tool.cells.circuits[reportedState(mode, circuit)].value += change;
    }
  }

  #spanFacts(permit: SessionPermit, options: AcquireOptions | undefined): SpanFacts {
    const { tracked, reason, state, budgetRemaining, caution } = permit;
    return {
      attributes: {
        [ATTR.agent]: this.#box.agent,
        [ATTR.conversation]: this.#id,
        [ATTR.reason]: reason,
        [ATTR.budgetRemaining]: budgetRemaining,
        [ATTR.caution]: caution,
        ...(options?.callId !== undefined && { [ATTR.callId]: options.callId }),
        ...(tracked && state && { [ATTR.state]: state, [ATTR.generation]: tracked.circuit.generation }),
      },
      causes: this.#causes(reason, tracked).flatMap((one) => one?.openedBy ?? []),
    };
  }

  /** The circuits that a decision answers to. */
  #causes(reason: Reason, tracked: TrackedCircuit | undefined): readonly (TrackedCircuit | undefined)[] {
    const decision = wouldDecide(reason);
    if (reason === 'systemic') return this.#ledger.event?.openings.map(({ tool }) => this.#circuits.get(tool)) ?? [];
    return decision === 'probe' || decision === 'skip' ? [tracked] : [];
  }

  #eventBase(): EventBase {
    return { agent: this.#box.agent, session: this.#id, unixMs: this.#box.clock.unixNow() };
  }

  /** Tells listeners and the log. */
  #announce<Name extends keyof LogEvents>(name: Name, details: Omit<LogEvents[Name], keyof EventBase>): void {
    const event = { ...this.#eventBase(), ...details } as LogEvents[Name] & BreakerboxEvents[Name];
    this.#box.emitter.emit(name, event);
    logEvent(name, event);
  }
}
