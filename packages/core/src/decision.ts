import type { BoxContext } from './box-context.ts';
import type { CallHistory } from './call-history.ts';
import { admits, type Circuit, type CircuitMode, isWaiting } from './circuit/circuit.ts';
import { keyCircuit, keyPolicyOf } from './circuit/key-circuits.ts';
import type { CircuitPolicy } from './circuit/policy.ts';
import type { CircuitRegistry } from './circuit-registry.ts';
import { type CircuitStore, circuitMoment } from './circuit-store.ts';
import type { Moment } from './clock.ts';
import type { FailureLedgers } from './failure-ledgers.ts';
import type { CallInput } from './loop-guard/digest.ts';
import { feeds, keyPassOf, rejects } from './passes.ts';
import type { SessionPermit } from './permit.ts';
import type { Precheck } from './precheck.ts';
import { type Decision, decisionOf, isExecuted, REASONS, type Reason, type SystemicDecision } from './reasons.ts';
import type { RejectionCauses, RejectionFacts } from './routing/message.ts';
import { type Route, routeOf } from './routing/route.ts';
import type { SessionTool } from './session-tools.ts';
import type { ToolSpec } from './tool.ts';
import type { TrackedCircuit } from './tracked-circuit.ts';

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
const UNAVAILABLE_REASONS: ReadonlySet<Reason> = new Set<Reason>([
  'open',
  'group_open',
  'key_open',
  'probe_in_flight',
  'forced_open',
  'unavailable',
]);

/** What was decided about a call, and why. */
export interface DecisionFacts {
  readonly reason: Reason;
  readonly decision: Decision;
  /** What rejected the call; undefined if the call is made. */
  readonly rejection: RejectionFacts | undefined;
}

const CLOSED: DecisionFacts = { reason: 'closed', decision: 'call', rejection: undefined };

/** Decides about calls, and predicts decisions. It moves no circuit and no ledger, but may start a pre-call check (K3). */
export class Decider {
  readonly #box: BoxContext;
  readonly #circuits: CircuitRegistry;
  readonly #store: CircuitStore;
  readonly #ledgers: FailureLedgers;
  readonly #history: CallHistory;
  /** K2: undefined if all tools may be called. */
  readonly #allowed: ReadonlySet<string> | undefined;
  /** What an event decides (S2). */
  readonly #systemic: SystemicDecision;
  /** Why a call of a declared tool is let through (B5). */
  readonly #noObjection: Reason;

  constructor(
    box: BoxContext,
    circuits: CircuitRegistry,
    ledgers: FailureLedgers,
    history: CallHistory,
    allowed: ReadonlySet<string> | undefined,
  ) {
    this.#box = box;
    this.#circuits = circuits;
    this.#store = circuits.store;
    this.#ledgers = ledgers;
    this.#history = history;
    this.#allowed = allowed;
    this.#systemic = box.systemic?.decision ?? 'pause';
    this.#noObjection = box.keepsCircuits ? 'closed' : 'no_circuit';
  }

  /** Decides about a call. The session acts on it. */
  decide(asked: Asked, mode: CircuitMode, call: AskedCall, at: Moment): DecisionFacts {
    const reason = this.#reason(asked, mode, call, at);
    if (reason === 'closed') return CLOSED; // Nearly every call.
    const decision = reason === 'systemic' ? this.#systemic : REASONS[reason];
    const isMade = decision === 'call' || decision === 'probe';
    return { reason, decision, rejection: isMade ? undefined : this.#facts(reason, asked, mode, call, at) };
  }

  /**
   * Why a call with these arguments (O5) would be let through, skipped or paused. A call of a tool that is only observed is let
   * through, for the reason that it would not be (C1).
   */
  #reason(asked: Asked, mode: CircuitMode, call: AskedCall, at: Moment): Reason {
    const reason = this.#objection(asked, mode, call, at);
    if (reason === undefined) return asked.spec === undefined ? 'undeclared' : this.#noObjection;
    const decision = decisionOf(reason, this.#systemic);
    if (mode !== 'observe_only' || isExecuted(reason)) return reason;
    return decision === 'pause' ? 'would_pause' : 'would_skip';
  }

  /**
   * The first objection gives the reason. Without one, the first circuit that is due for a probe does: group, tool, event, key.
   * Undefined for nearly every call.
   */
  #objection(asked: Asked, mode: CircuitMode, { input, key }: AskedCall, at: Moment): Reason | undefined {
    const { tool, spec, tracked, group } = asked;
    const isCalm = mode !== 'observe_only' && this.#ledgers.isCalm;
    const session = isCalm ? undefined : this.#ofSession(asked, mode, at);
    if (session !== undefined && session !== 'probe_due') return session;
    // A tool that is not allowed is not called, even if its circuit is disabled.
    if (this.#allowed !== undefined && !this.#allowed.has(tool)) return 'not_allowed';
    if (mode === 'forced_open' || mode === 'disabled') return mode;
    if (spec?.precheck !== undefined && this.#isUnavailable(spec, spec.precheck, at)) return 'unavailable';
    const byGroup = group === undefined ? undefined : this.#ofGroup(asked, group, mode, at);
    if (byGroup !== undefined && byGroup !== 'group_probe_due') return byGroup;
    const isClosed = tracked === undefined || tracked.circuit.state === 'closed'; // A circuit that was not used yet is closed (C2).
    const own = isClosed ? undefined : this.#ofCircuit(tracked.circuit, tracked.tool.policy, OF_TOOL, at);
    if (own !== undefined && own !== 'probe_due') return own;
    const byKey = tracked === undefined || key === undefined ? undefined : this.#ofKey(tracked, key, at);
    if (byKey !== undefined && byKey !== 'key_probe_due') return byKey;
    // C15: if several circuits are due, one call probes them all.
    const due = byGroup ?? own ?? session ?? byKey;
    if (due !== undefined) return due;
    // A probe may repeat an earlier call, so the loop guard is asked last.
    return input !== undefined && this.#history.isRepeat(tool, input) ? 'repeat' : undefined;
  }

  /** B1, S2, S5: what pauses the session, or skips the tools of an event; `probe_due`: the call may probe for the event. */
  #ofSession(asked: Asked, mode: CircuitMode, at: Moment): Reason | undefined {
    const observed = mode === 'observe_only';
    const isExhausted = this.#ledgers.isExhausted(observed);
    const state = this.#ledgers.correlationOf(observed);
    if (state.correlation.event === undefined) return isExhausted ? 'budget_exhausted' : undefined;
    const pausesAll = this.#box.systemic?.decision !== 'skip';
    if (isExhausted && !pausesAll) return 'budget_exhausted';
    if (!pausesAll && !this.#ledgers.isAffected(state, asked.tool)) return undefined;
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
    return isWaiting(circuit) ? 'group_open' : 'probe_in_flight';
  }

  /** C14: the reason from the circuit of the call's key. */
  #ofKey(tracked: TrackedCircuit, key: string, at: Moment): Reason | undefined {
    return this.#ofCircuit(keyCircuit(tracked, key), keyPolicyOf(tracked), OF_KEY, at);
  }

  #ofCircuit(circuit: Circuit, policy: CircuitPolicy, says: Says, at: Moment): Reason | undefined {
    if (circuit.state === 'closed') return undefined;
    if (admits(circuit, policy, circuitMoment(this.#store, at))) return says.due;
    return isWaiting(circuit) ? says.open : 'probe_in_flight';
  }

  /** The fallback of a call that is skipped or paused for this reason (R2, F2); undefined if the call is made. */
  #route(reason: Reason, { tool, spec }: Asked, input: CallInput | undefined, at: Moment): Route | undefined {
    if (isExecuted(reason)) return undefined;
    const settings = spec ?? this.#box.undeclared;
    if (decisionOf(reason, this.#systemic) === 'pause') return settings.lastResort;
    const stale = UNAVAILABLE_REASONS.has(reason) ? this.#history.lastGood(tool, settings, input, at.ms) : undefined;
    if (stale !== undefined || settings.capability.alternatives === undefined) return stale ?? settings.lastResort;
    return routeOf(settings.capability, (other) => this.#isUsable(other, at));
  }

  /** R2: an alternative whose circuit isn't closed is not usable. */
  #isUsable(tool: string, at: Moment): boolean {
    const spec = this.#box.tool(tool);
    if (spec === undefined) return false;
    const asked = this.#asked(spec.name, spec);
    return decisionOf(this.#reason(asked, (asked.tracked ?? spec).mode, NO_CALL, at), this.#systemic) === 'call';
  }

  /** A tool as it is now. A circuit that was not used yet is closed. */
  #asked(tool: string, spec: ToolSpec | undefined): Asked {
    const { circuits } = this.#store;
    const group = this.#box.keepsCircuits ? spec?.group : undefined;
    const known = circuits.get(tool);
    // A tool without a circuit is decided by its settings, unless an operator forces a mode on it, or a fleet holds it open.
    const forced =
      known === undefined && spec !== undefined && this.#box.overrides.version > 0
        ? this.#circuits.unused(spec)
        : undefined;
    return {
      tool,
      spec,
      tracked: known ?? forced,
      group: group && (circuits.get(group.name) ?? this.#circuits.unused(group)),
    };
  }

  #facts(reason: Reason, asked: Asked, mode: CircuitMode, call: AskedCall, at: Moment): RejectionFacts {
    return {
      tool: asked.tool,
      mode,
      reason,
      decision: decisionOf(reason, this.#systemic),
      route: this.#route(reason, asked, call.input, at),
      circuit: asked.tracked?.circuit,
      policy: (asked.spec ?? this.#box.undeclared).policy,
      ledger: this.#ledgers.real,
      takesTurns: this.#store.steps === undefined && at.step > 0,
      ...this.#causesOf(asked, mode, call, at),
      at: circuitMoment(this.#store, at),
    };
  }

  /** What rejects a call of a tool beside its own circuit. */
  #causesOf(asked: Asked, mode: CircuitMode, call: AskedCall, at: Moment): RejectionCauses {
    const { group, tracked } = asked;
    // The key is asked last: it rejects the call if the reason changes without it.
    const isKey =
      call.key !== undefined &&
      this.#reason(asked, mode, call, at) !== this.#reason(asked, mode, { ...call, key: undefined }, at);
    const { correlation, gate } = this.#ledgers.correlationOf(mode === 'observe_only');
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

  /**
   * R5: what the next call would be rejected with, once this one has failed. Undefined if it would be made, or is rejected for its
   * arguments alone.
   */
  after({ entry, passes, input }: SessionPermit, at: Moment): RejectionFacts | undefined {
    const { mode } = entry.tracked ?? entry.spec ?? this.#box.undeclared;
    const call = { input, key: keyPassOf(passes)?.key };
    const reason = this.#reason(entry, mode, call, at);
    return isExecuted(reason) || reason === 'repeat' ? undefined : this.#facts(reason, entry, mode, call, at);
  }

  /** What would be decided now for a tool. */
  predict(tool: string, call: AskedCall, at: Moment): RejectionFacts {
    const asked = this.#asked(tool, this.#box.tool(tool));
    const { mode } = asked.tracked ?? asked.spec ?? this.#box.undeclared;
    return this.#facts(this.#reason(asked, mode, call, at), asked, mode, call, at);
  }
}
