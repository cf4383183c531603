import type { Accounts } from './accounts.ts';
import { type Route, routeOf } from './capability/route.ts';
import type { Outlook as ToolOutlook } from './capability/scope.ts';
import { unblockText } from './capability/unblock.ts';
import { admit } from './circuit/circuit.ts';
import { probeWait } from './circuit/schedule.ts';
import type { Moment } from './clock.ts';
import type { SessionContext } from './context.ts';
import type { CallHistory } from './history.ts';
import type { Grounds } from './message.ts';
import { REASONS, type Reason } from './reasons.ts';
import { type CircuitStore, circuitMoment } from './store.ts';
import type { ToolSpec } from './tool.ts';
import type { TrackedCircuit } from './tracked.ts';

/** A call that is asked about. */
export interface Asked {
  readonly tool: string;
  readonly spec: ToolSpec | undefined;
  readonly tracked: TrackedCircuit | undefined;
  /** Of its arguments (O5). */
  readonly digest: string | undefined;
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

  /** Why a call would be let through or held up. */
  reason(asked: Asked, at: Moment): Reason {
    const { spec, tracked } = asked;
    const { mode } = tracked ?? spec ?? this.#box.undeclared;
    const observed = mode === 'observe_only';
    const state = this.#accounts.state(observed);
    if (state !== 'active') {
      if (observed) return 'would_pause';
      return state === 'paused_systemic' ? 'systemic' : 'budget_exhausted';
    }
    // What may not be called isn't called, switched off or not.
    if (this.#allowed !== undefined && !this.#allowed.has(asked.tool)) return observed ? 'would_skip' : 'not_allowed';
    if (mode === 'forced_open' || mode === 'disabled') return mode;
    const skip = this.#heldUp(asked, at);
    if (skip !== undefined) return observed ? 'would_skip' : skip;
    if (tracked === undefined) return spec === undefined ? 'undeclared' : 'no_circuit';
    return tracked.circuit.state === 'closed' ? 'closed' : 'probe_due';
  }

  /** What holds a call up that the session's state and the tool's mode let through. */
  #heldUp({ tool, spec, tracked, digest }: Asked, at: Moment): Reason | undefined {
    if (
      spec?.precheck !== undefined &&
      this.#box.prechecks.availability(tool, spec.precheck, at.ms) === 'unavailable'
    ) {
      return 'unavailable';
    }
    if (tracked !== undefined && tracked.circuit.state !== 'closed') {
      // The loop guard isn't asked: a tool that is out fails alike, and a probe may well be the same call once more.
      const { verdict } = admit(tracked.circuit, tracked.tool.policy, circuitMoment(this.#store, at));
      if (verdict === 'probe') return undefined;
      return tracked.circuit.state === 'open' ? 'open' : 'probe_in_flight';
    }
    return digest !== undefined && this.#history.isRepeat(tool, digest) ? 'repeat' : undefined;
  }

  /** Where a call goes that is held up for this reason (R2, F2); undefined where it isn't. */
  route(reason: Reason, { tool, spec, digest }: Asked, at: Moment): Route | undefined {
    const decision = REASONS[reason];
    if (decision !== 'skip' && decision !== 'pause') return undefined;
    const settings = spec ?? this.#box.undeclared;
    if (decision === 'pause') return settings.lastResort;
    const stale = IS_OUT.has(reason) ? this.#history.lastGood(tool, settings, digest, at.ms) : undefined;
    if (stale !== undefined || settings.capability.alternatives === undefined) return stale ?? settings.lastResort;
    return routeOf(settings.capability, (other) => this.#isUsable(other, at));
  }

  /** R2: an alternative whose circuit isn't closed is not usable. */
  #isUsable(tool: string, at: Moment): boolean {
    const spec = this.#box.tool(tool);
    if (spec === undefined) return false;
    const tracked = this.#store.circuits.get(tool);
    return REASONS[this.reason({ tool, spec, tracked, digest: undefined }, at)] === 'call';
  }

  /** What the words for a held-up call are made of. */
  grounds({ tool, spec, tracked }: Asked, reason: Reason, route: Route | undefined, at: Moment): Grounds {
    const { policy } = spec ?? this.#box.undeclared;
    const ledger = this.#accounts.real;
    return { tool, reason, route, circuit: tracked?.circuit, policy, ledger, at: circuitMoment(this.#store, at) };
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
    const asked = { tool, spec: this.#box.tool(tool), tracked: this.#store.circuits.get(tool), digest: undefined };
    const reason = this.reason(asked, at);
    return this.grounds(asked, reason, this.route(reason, asked, at), at);
  }
}
