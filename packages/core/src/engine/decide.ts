import type { CircuitMode } from '../circuit/circuit.ts';
import { keyCircuit, keyPolicyOf } from '../circuit/key-circuits.ts';
import { circuitMoment } from '../circuit-store.ts';
import type { Moment } from '../clock.ts';
import type { CallInput } from '../loop-guard/digest.ts';
import { NO_LOOPS } from '../loop-guard/loop-guard.ts';
import { keyPassOf } from '../passes.ts';
import type { Decided, SessionPermit } from '../permit.ts';
import { decisionOf, isExecuted, REASONS, type Reason, SKIPS, type SystemicDecision } from '../reasons.ts';
import { isForNow, type RejectionCauses, type RejectionFacts } from '../routing/message.ts';
import { type Route, routeOf } from '../routing/route.ts';
import type { ToolSpec } from '../tool.ts';
import { type Asked, type AskedCall, type Engine, NO_CALL } from './barrier.ts';
import { factsOf, objectionTo, PASSED } from './barrier-lists.ts';

const CLOSED: Decided = { reason: 'closed', decision: 'call', enters: false, rejection: undefined };
const CLOSED_WITH_OTHERS: Decided = { ...CLOSED, enters: true };

/** Decides about calls, and predicts decisions. It moves no circuit and no ledger, but may start a pre-call check (K3). */
export class Decider {
  readonly #engine: Engine;
  /** What an event decides (S2). */
  readonly #systemic: SystemicDecision;
  /** Why a call of a declared tool is let through (B5). */
  readonly #noObjection: Reason;

  constructor(engine: Engine) {
    const { box } = engine;
    this.#engine = engine;
    this.#systemic = box.systemic?.decision ?? 'pause';
    this.#noObjection = box.keepsCircuits ? 'closed' : 'no_circuit';
  }

  /** Decides about a call. The session acts on it. */
  decide(asked: Asked, mode: CircuitMode, call: AskedCall, at: Moment): Decided {
    const facts = factsOf(this.#engine, asked, mode, call);
    const reason = this.#reason(asked, mode, call, at, facts);
    if (reason === 'closed') return (facts & PASSED) === 0 ? CLOSED : CLOSED_WITH_OTHERS; // Nearly every call.
    const decision = reason === 'systemic' ? this.#systemic : REASONS[reason];
    const isMade = decision === 'call' || decision === 'probe';
    const enters = decision === 'probe';
    return { reason, decision, enters, rejection: isMade ? undefined : this.#facts(reason, asked, mode, call, at) };
  }

  /**
   * Why a call with these arguments would be let through, skipped or paused. A call of a tool that is only observed is let
   * through, for the reason that it would not be (C1).
   */
  #reason(
    asked: Asked,
    mode: CircuitMode,
    call: AskedCall,
    at: Moment,
    facts = factsOf(this.#engine, asked, mode, call),
  ): Reason {
    // A probe may repeat an earlier call, so the loop guard is asked last.
    const { history } = this.#engine;
    let reason = objectionTo(this.#engine, asked, mode, call, at, facts);
    if (reason === undefined && history.guard !== NO_LOOPS) reason = history.repeatOf(asked.tool, call.input);
    if (reason === undefined) return asked.spec === undefined ? 'undeclared' : this.#noObjection;
    const decision = decisionOf(reason, this.#systemic);
    if (mode !== 'observe_only' || isExecuted(reason)) return reason;
    return decision === 'pause' ? 'would_pause' : 'would_skip';
  }

  /** The fallback of a call that is skipped or paused for this reason (R2); undefined if the call is made. */
  #route(reason: Reason, { tool, spec }: Asked, input: CallInput | undefined, at: Moment): Route | undefined {
    if (isExecuted(reason)) return undefined;
    if (SKIPS[reason]?.isForNow) return { kind: 'defer' }; // The tool itself works, a little later.
    const settings = spec ?? this.#engine.box.undeclared;
    if (decisionOf(reason, this.#systemic) === 'pause') return settings.lastResort;
    const { serveStaleMs } = settings;
    const stale =
      serveStaleMs !== undefined && SKIPS[reason]?.isUnavailable
        ? this.#engine.history.lastGood(tool, serveStaleMs, input, at.ms)
        : undefined;
    if (stale !== undefined || settings.capability.alternatives === undefined) return stale ?? settings.lastResort;
    return routeOf(settings.capability, (other) => this.#isUsable(other, at));
  }

  /** R2: an alternative whose circuit isn't closed is not usable. */
  #isUsable(tool: string, at: Moment): boolean {
    const spec = this.#engine.box.tool(tool);
    if (spec === undefined) return false;
    const asked = this.#asked(spec.name, spec);
    return decisionOf(this.#reason(asked, (asked.tracked ?? spec).mode, NO_CALL, at), this.#systemic) === 'call';
  }

  /** A tool as it is now. A circuit that was not used yet is closed. */
  #asked(tool: string, spec: ToolSpec | undefined): Asked {
    const { circuits } = this.#engine.circuits.store;
    const group = this.#engine.box.keepsCircuits ? spec?.group : undefined;
    const known = circuits.get(tool);
    // A tool without a circuit is decided by its settings, unless an operator forces a mode on it, or a fleet holds it open.
    const forced =
      known === undefined && spec !== undefined && this.#engine.box.overrides.common.version > 0
        ? this.#engine.circuits.unused(spec)
        : undefined;
    return {
      tool,
      spec,
      tracked: known ?? forced,
      group: group && (circuits.get(group.name) ?? this.#engine.circuits.unused(group)),
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
      policy: (asked.spec ?? this.#engine.box.undeclared).policy,
      ledger: this.#engine.circuits.ledgers.real.ledger,
      takesTurns: this.#engine.circuits.store.steps === undefined && at.step > 0,
      hasWorked: this.#engine.box.evidence.succeeded.has(asked.tool),
      ...this.#causesOf(reason, asked, mode, call, at),
      at: circuitMoment(this.#engine.circuits.store, at),
    };
  }

  /** What rejects a call of a tool beside its own circuit. */
  #causesOf(reason: Reason, asked: Asked, mode: CircuitMode, call: AskedCall, at: Moment): RejectionCauses {
    const { group, tracked } = asked;
    // The key is asked last: it rejects the call if the reason changes without it.
    const isKey = call.key !== undefined && reason !== this.#reason(asked, mode, { ...call, key: undefined }, at);
    const { correlation, gate } = this.#engine.circuits.ledgers.sideOf(mode).failures;
    const policy = this.#engine.box.systemic?.gate;
    const run = call.run ?? this.#engine.run;
    return {
      group: group && { name: group.tool.name, mode: group.mode, circuit: group.circuit, policy: group.tool.policy },
      key:
        isKey && tracked && call.key !== undefined
          ? { circuit: keyCircuit(tracked, call.key), policy: keyPolicyOf(tracked) }
          : undefined,
      event: correlation.event,
      gate: gate && policy && { circuit: gate.circuit, policy },
      limit: run?.limitObjection(at.ms)?.limit,
    };
  }

  /**
   * R5: what the next call would be rejected with, once this one has failed. Undefined if it would be made, or is rejected for its
   * arguments alone.
   */
  after({ entry, passes, input, limits }: SessionPermit, at: Moment): RejectionFacts | undefined {
    const { box } = this.#engine;
    const asked = entry.spec === undefined ? this.#asked(entry.tool, box.tool(entry.tool)) : entry; // It may be declared by now.
    const { mode } = asked.tracked ?? asked.spec ?? box.undeclared;
    const call = { input, key: keyPassOf(passes)?.key, run: limits?.run };
    const reason = this.#reason(asked, mode, call, at);
    if (isExecuted(reason) || reason === 'repeat') return undefined;
    const facts = this.#facts(reason, asked, mode, call, at);
    return isForNow(facts) ? undefined : facts;
  }

  /** What would be decided now for a tool. */
  predict(tool: string, call: AskedCall, at: Moment): RejectionFacts {
    const asked = this.#asked(tool, this.#engine.box.tool(tool));
    const { mode } = asked.tracked ?? asked.spec ?? this.#engine.box.undeclared;
    return this.#facts(this.#reason(asked, mode, call, at), asked, mode, call, at);
  }
}
