import type { Accounts } from './accounts.ts';
import { type Route, routeOf } from './capability/route.ts';
import type { Outlook as ToolOutlook } from './capability/scope.ts';
import { unblockText } from './capability/unblock.ts';
import { admits } from './circuit/circuit.ts';
import type { CircuitMode } from './circuit/mode.ts';
import { probeWait } from './circuit/schedule.ts';
import type { Moment } from './clock.ts';
import type { SessionContext } from './context.ts';
import type { CallHistory } from './history.ts';
import type { Grounds } from './message.ts';
import type { SessionPermit } from './permit.ts';
import type { Precheck } from './precheck.ts';
import { isExecuted, REASONS, type Reason } from './reasons.ts';
import { type CircuitStore, circuitMoment } from './store.ts';
import type { ToolSpec } from './tool.ts';
import type { TrackedCircuit } from './tracked.ts';

/** A tool that is asked about. */
export interface Asked {
  readonly tool: string;
  readonly spec: ToolSpec | undefined;
  readonly tracked: TrackedCircuit | undefined;
}

/** F2: a last good result stands in for a tool that is out; not for one that says no, or that isn't allowed. */
const IS_OUT: ReadonlySet<Reason> = new Set<Reason>(['open', 'probe_in_flight', 'forced_open', 'unavailable']);

/** What would be decided now, and what would stand in. Changes nothing: the expeditor acts on it. */
export class Outlook {
  readonly #box: SessionContext;
  readonly #store: CircuitStore;
  readonly #accounts: Accounts;
  readonly #history: CallHistory;
  /** K2: undefined: all tools may be called. */
  readonly #allowed: ReadonlySet<string> | undefined;

  constructor(
    box: SessionContext,
    store: CircuitStore,
    accounts: Accounts,
    history: CallHistory,
    allowed: ReadonlySet<string> | undefined,
  ) {
    this.#box = box;
    this.#store = store;
    this.#accounts = accounts;
    this.#history = history;
    this.#allowed = allowed;
  }

  /** Why a call with these arguments (O5) would be let through or held up. */
  reason(asked: Asked, mode: CircuitMode, digest: string | undefined, at: Moment): Reason {
    const reason = this.#reason(asked, mode, digest, at);
    return mode === 'observe_only' ? onlyObserved(reason) : reason;
  }

  #reason({ tool, spec, tracked }: Asked, mode: CircuitMode, digest: string | undefined, at: Moment): Reason {
    const paused = this.#accounts.isPaused ? this.#pausedBy(mode) : undefined;
    if (paused !== undefined) return paused;
    // What may not be called isn't called, switched off or not.
    if (this.#allowed !== undefined && !this.#allowed.has(tool)) return 'not_allowed';
    if (mode === 'forced_open' || mode === 'disabled') return mode;
    if (spec?.precheck !== undefined && this.#isUnavailable(spec, spec.precheck, at)) return 'unavailable';
    // There the loop guard isn't asked: a tool that is out fails alike, and a probe may well be the same call once more.
    if (tracked !== undefined && tracked.circuit.state !== 'closed') return this.#ofOutage(tracked, at);
    if (digest !== undefined && this.#history.isRepeat(tool, digest)) return 'repeat';
    if (tracked !== undefined) return 'closed';
    return spec === undefined ? 'undeclared' : 'no_circuit';
  }

  #pausedBy(mode: CircuitMode): Reason | undefined {
    const state = this.#accounts.state(mode === 'observe_only');
    if (state === 'active') return undefined;
    return state === 'paused_systemic' ? 'systemic' : 'budget_exhausted';
  }

  #isUnavailable({ name }: ToolSpec, precheck: Precheck, { ms }: Moment): boolean {
    return this.#box.prechecks.availability(name, precheck, ms) === 'unavailable';
  }

  #ofOutage({ circuit, tool }: TrackedCircuit, at: Moment): Reason {
    if (admits(circuit, tool.policy, circuitMoment(this.#store, at))) return 'probe_due';
    return circuit.state === 'open' ? 'open' : 'probe_in_flight';
  }

  /** Where a call goes that is held up for this reason (R2, F2); undefined where it isn't. */
  route(reason: Reason, { tool, spec }: Asked, digest: string | undefined, at: Moment): Route | undefined {
    if (isExecuted(reason)) return undefined;
    const settings = spec ?? this.#box.undeclared;
    if (REASONS[reason] === 'pause') return settings.lastResort;
    const stale = IS_OUT.has(reason) ? this.#history.lastGood(tool, settings, digest, at.ms) : undefined;
    if (stale !== undefined || settings.capability.alternatives === undefined) return stale ?? settings.lastResort;
    return routeOf(settings.capability, (other) => this.#isUsable(other, at));
  }

  /** R2: an alternative whose circuit isn't closed is not usable. */
  #isUsable(tool: string, at: Moment): boolean {
    const spec = this.#box.tool(tool);
    if (spec === undefined) return false;
    const tracked = this.#store.circuits.get(spec.name);
    return REASONS[this.reason({ tool: spec.name, spec, tracked }, (tracked ?? spec).mode, undefined, at)] === 'call';
  }

  /** What the words for a call that was held up are made of: what stood then. */
  grounds({ seat, reason, route, circuit, ledger, at }: SessionPermit): Grounds {
    const { policy } = seat.spec ?? this.#box.undeclared;
    return { tool: seat.tool, reason, route, circuit, policy, ledger, at };
  }

  /** Whether a declared tool is out, and what to do about it. */
  of(tool: string, at: Moment): ToolOutlook {
    const { reason, route, circuit, policy, at: now } = this.#now(tool, at);
    if (route === undefined) return { out: false };
    const wait = circuit?.state === 'open' ? probeWait(circuit.outage, policy, now) : undefined;
    return { out: true, reason, route, unblock: unblockText({ tool, reason, wait }) };
  }

  /** Of the declared tools, those that would be held up now (R3). */
  outs(at: Moment): readonly Grounds[] {
    return [...this.#box.tools()].map((tool) => this.#now(tool, at)).filter(({ route }) => route !== undefined);
  }

  #now(tool: string, at: Moment): Grounds {
    const asked = { tool, spec: this.#box.tool(tool), tracked: this.#store.circuits.get(tool) };
    const { mode } = asked.tracked ?? asked.spec ?? this.#box.undeclared;
    const reason = this.reason(asked, mode, undefined, at);
    return {
      tool,
      reason,
      route: this.route(reason, asked, undefined, at),
      circuit: asked.tracked?.circuit,
      policy: (asked.spec ?? this.#box.undeclared).policy,
      ledger: this.#accounts.real,
      at: circuitMoment(this.#store, at),
    };
  }
}

/** C1: what would be held up is only observed, and let through for that reason. */
const onlyObserved = (reason: Reason): Reason => {
  if (isExecuted(reason)) return reason;
  return REASONS[reason] === 'pause' ? 'would_pause' : 'would_skip';
};
