import type { Accounts } from './accounts.ts';
import type { CallInput } from './call-input.ts';
import { type Route, routeOf } from './capability/route.ts';
import type { Outlook as ToolOutlook } from './capability/scope.ts';
import { unblockText } from './capability/unblock.ts';
import { admits, type Circuit } from './circuit/circuit.ts';
import type { CircuitMode } from './circuit/mode.ts';
import type { CircuitPolicy } from './circuit/policy.ts';
import type { Circuits } from './circuits.ts';
import type { Moment } from './clock.ts';
import type { SessionContext } from './context.ts';
import type { CallHistory } from './history.ts';
import { keyCircuit, keyPolicyOf } from './keys.ts';
import { type Grounds, type Held, waitOf } from './message.ts';
import { feeds, rejects } from './passes.ts';
import type { SessionPermit } from './permit.ts';
import type { Precheck } from './precheck.ts';
import { decisionOf, isExecuted, type Reason } from './reasons.ts';
import type { SessionTool } from './seats.ts';
import { type CircuitStore, circuitMoment } from './store.ts';
import type { ToolSpec } from './tool.ts';
import { newCircuit, type TrackedCircuit } from './tracked.ts';

/** The tool that a decision is asked for. */
export type Asked = Omit<SessionTool, 'tally'>;

/** The call that a decision is asked for, as far as it is known. */
export interface AskedCall {
  readonly input: CallInput | undefined;
  /** The hash of its key (C14). */
  readonly key: string | undefined;
}

/** Shared by all calls of which nothing is known. */
export const NO_CALL: AskedCall = { input: undefined, key: undefined };

/** The reasons that a circuit gives when it is not closed. */
interface Says {
  readonly due: Reason;
  readonly open: Reason;
}

const OF_TOOL: Says = { due: 'probe_due', open: 'open' };
const OF_KEY: Says = { due: 'key_probe_due', open: 'key_open' };

/**
 * F2: reasons for which a last good result may answer: the tool is unavailable. Not if the call itself is rejected, or the tool is
 * not allowed.
 */
const IS_OUT: ReadonlySet<Reason> = new Set<Reason>([
  'open',
  'group_open',
  'key_open',
  'probe_in_flight',
  'forced_open',
  'unavailable',
]);

/** Predicts the decision for a call, and its fallback. Changes nothing: the session acts on it. */
export class Outlook {
  readonly #box: SessionContext;
  readonly #circuits: Circuits;
  readonly #store: CircuitStore;
  readonly #accounts: Accounts;
  readonly #history: CallHistory;
  /** K2: undefined if all tools may be called. */
  readonly #allowed: ReadonlySet<string> | undefined;

  constructor(
    box: SessionContext,
    circuits: Circuits,
    accounts: Accounts,
    history: CallHistory,
    allowed: ReadonlySet<string> | undefined,
  ) {
    this.#box = box;
    this.#circuits = circuits;
    this.#store = circuits.store;
    this.#accounts = accounts;
    this.#history = history;
    this.#allowed = allowed;
  }

  /** Why a call with these arguments (O5) would be let through, skipped or paused. */
  reason(asked: Asked, mode: CircuitMode, { input, key }: AskedCall, at: Moment): Reason {
    const reason = this.#reason(asked, mode, input, key, at);
    return mode === 'observe_only' ? this.#onlyObserved(reason) : reason;
  }

  /** C1: a call that would be skipped or paused is only observed, and let through for that reason. */
  #onlyObserved(reason: Reason): Reason {
    if (isExecuted(reason)) return reason;
    return this.#decides(reason) === 'pause' ? 'would_pause' : 'would_skip';
  }

  #decides(reason: Reason) {
    return decisionOf(reason, this.#box.systemic?.decision ?? 'pause');
  }

  #reason(asked: Asked, mode: CircuitMode, input: CallInput | undefined, key: string | undefined, at: Moment): Reason {
    const { tool, spec, tracked, group } = asked;
    const session = this.#ofSession(asked, mode, at);
    if (session !== undefined && session !== 'probe_due') return session;
    // A tool that is not allowed is not called, even if its circuit is disabled.
    if (this.#allowed !== undefined && !this.#allowed.has(tool)) return 'not_allowed';
    if (mode === 'forced_open' || mode === 'disabled') return mode;
    if (spec?.precheck !== undefined && this.#isUnavailable(spec, spec.precheck, at)) return 'unavailable';
    const byGroup = group === undefined ? undefined : this.#ofGroup(asked, group, mode, at);
    if (byGroup !== undefined && byGroup !== 'group_probe_due') return byGroup;
    const own = tracked === undefined ? undefined : this.#ofCircuit(tracked.circuit, tracked.tool.policy, OF_TOOL, at);
    if (own !== undefined && own !== 'probe_due') return own;
    const byKey = tracked === undefined || key === undefined ? undefined : this.#ofKey(tracked, key, at);
    if (byKey !== undefined && byKey !== 'key_probe_due') return byKey;
    // C15: if several circuits are due, one call probes them all.
    const due = byGroup ?? own ?? session ?? byKey;
    if (due !== undefined) return due;
    // A probe may repeat an earlier call, so the loop guard is asked last.
    if (input !== undefined && this.#history.isRepeat(tool, input)) return 'repeat';
    if (spec === undefined) return 'undeclared';
    return this.#box.keepsCircuits ? 'closed' : 'no_circuit'; // A circuit that was not used yet is closed (C2).
  }

  /** B1, S2, S5: what pauses the session, or skips the tools of an event; `probe_due`: the call may probe for the event. */
  #ofSession(asked: Asked, mode: CircuitMode, at: Moment): Reason | undefined {
    const observed = mode === 'observe_only';
    const isExhausted = this.#accounts.isExhausted(observed);
    const state = this.#accounts.correlationOf(observed);
    if (state.correlation.event === undefined) return isExhausted ? 'budget_exhausted' : undefined;
    const pausesAll = this.#box.systemic?.decision !== 'skip';
    if (isExhausted && !pausesAll) return 'budget_exhausted';
    if (!pausesAll && !this.#accounts.isAffected(state, asked.tool)) return undefined;
    if (!this.#circuits.admitsAtGate(asked, mode, at)) return 'systemic';
    return isExhausted ? 'budget_exhausted' : 'probe_due';
  }

  #isUnavailable({ name }: ToolSpec, precheck: Precheck, { ms }: Moment): boolean {
    return this.#box.prechecks.availability(name, precheck, ms) === 'unavailable';
  }

  /** C13: the reason from the circuit of the tool's group; undefined if it has no objection. */
  #ofGroup({ tool, tracked }: Asked, group: TrackedCircuit, mode: CircuitMode, at: Moment): Reason | undefined {
    if (!rejects(group, mode)) return undefined;
    if (group.mode === 'forced_open') return 'forced_open';
    const { circuit } = group;
    if (circuit.state === 'closed') return undefined;
    const asking = tracked && { tool, policy: tracked.tool.policy };
    if (admits(circuit, group.tool.policy, circuitMoment(this.#store, at), asking)) {
      return feeds(group, mode) ? 'group_probe_due' : undefined;
    }
    return circuit.state === 'open' ? 'group_open' : 'probe_in_flight';
  }

  /** C14: the reason from the circuit of the call's key. */
  #ofKey(tracked: TrackedCircuit, key: string, at: Moment): Reason | undefined {
    return this.#ofCircuit(keyCircuit(tracked, key), keyPolicyOf(tracked), OF_KEY, at);
  }

  #ofCircuit(circuit: Circuit, policy: CircuitPolicy, says: Says, at: Moment): Reason | undefined {
    if (circuit.state === 'closed') return undefined;
    if (admits(circuit, policy, circuitMoment(this.#store, at))) return says.due;
    return circuit.state === 'open' ? says.open : 'probe_in_flight';
  }

  /** The fallback of a call that is skipped or paused for this reason (R2, F2); undefined if the call is made. */
  route(reason: Reason, { tool, spec }: Asked, input: CallInput | undefined, at: Moment): Route | undefined {
    if (isExecuted(reason)) return undefined;
    const settings = spec ?? this.#box.undeclared;
    if (this.#decides(reason) === 'pause') return settings.lastResort;
    const stale = IS_OUT.has(reason) ? this.#history.lastGood(tool, settings, input, at.ms) : undefined;
    if (stale !== undefined || settings.capability.alternatives === undefined) return stale ?? settings.lastResort;
    return routeOf(settings.capability, (other) => this.#isUsable(other, at));
  }

  /** R2: an alternative whose circuit isn't closed is not usable. */
  #isUsable(tool: string, at: Moment): boolean {
    const spec = this.#box.tool(tool);
    if (spec === undefined) return false;
    const asked = this.#asked(spec.name, spec);
    return this.#decides(this.reason(asked, (asked.tracked ?? spec).mode, NO_CALL, at)) === 'call';
  }

  /** A tool as it is now. A circuit that was not used yet is closed. */
  #asked(tool: string, spec: ToolSpec | undefined): Asked {
    const { circuits } = this.#store;
    const group = this.#box.keepsCircuits ? spec?.group : undefined;
    return { tool, spec, tracked: circuits.get(tool), group: group && (circuits.get(group.name) ?? newCircuit(group)) };
  }

  /** The facts for the text of a skipped or paused call, as they were at the decision. */
  grounds({ seat, mode, decision, reason, route, circuit, ledger, held = NOT_HELD, at }: SessionPermit): Grounds {
    const { policy } = seat.spec ?? this.#box.undeclared;
    return { tool: seat.tool, mode, reason, decision, route, circuit, policy, ledger, ...held, at };
  }

  /** What rejects a call of a tool beside its own circuit. */
  heldBy(asked: Asked, mode: CircuitMode, call: AskedCall, at: Moment): Held {
    const { group, tracked } = asked;
    // The key is asked last: it rejects the call if the reason changes without it.
    const isKey =
      call.key !== undefined &&
      this.reason(asked, mode, call, at) !== this.reason(asked, mode, { ...call, key: undefined }, at);
    const { correlation, gate } = this.#accounts.correlationOf(mode === 'observe_only');
    const policy = this.#box.systemic?.gate;
    return {
      group: group && { name: group.tool.name, mode: group.mode, circuit: group.circuit, policy: group.tool.policy },
      key:
        isKey && tracked && call.key !== undefined
          ? { circuit: keyCircuit(tracked, call.key), policy: keyPolicyOf(tracked) }
          : undefined,
      event: correlation.event,
      gate: gate && policy && { circuit: gate.circuit, policy },
    };
  }

  /** Whether a declared tool is unavailable, and what to do about it. */
  of(tool: string, at: Moment): ToolOutlook {
    const grounds = this.now(tool, NO_CALL, at);
    const { reason, route } = grounds;
    if (route === undefined) return { out: false };
    return { out: true, reason, route, unblock: unblockText({ tool, reason, wait: waitOf(grounds) }) };
  }

  /** The declared tools that would be skipped or paused now (R3). */
  outs(at: Moment): readonly Grounds[] {
    return [...this.#box.tools()].map((tool) => this.now(tool, NO_CALL, at)).filter(({ route }) => route !== undefined);
  }

  /** What would be decided now for a tool. */
  now(tool: string, call: AskedCall, at: Moment): Grounds {
    const asked = this.#asked(tool, this.#box.tool(tool));
    const { mode } = asked.tracked ?? asked.spec ?? this.#box.undeclared;
    const reason = this.reason(asked, mode, call, at);
    return {
      tool,
      mode,
      reason,
      decision: this.#decides(reason),
      route: this.route(reason, asked, call.input, at),
      circuit: asked.tracked?.circuit,
      policy: (asked.spec ?? this.#box.undeclared).policy,
      ledger: this.#accounts.real,
      ...this.heldBy(asked, mode, call, at),
      at: circuitMoment(this.#store, at),
    };
  }
}

const NOT_HELD: Held = { group: undefined, key: undefined, event: undefined, gate: undefined };
