import type { CircuitPolicy } from './circuit/policy.ts';
import type { CorrelationPolicy } from './correlation.ts';
import type { Evidence } from './mistakes.ts';
import type { PrecheckBoard } from './precheck.ts';
import type { SystemicDecision } from './reasons.ts';
import type { RecoveryWatch } from './recovery.ts';
import type { CircuitStore } from './store.ts';
import type { SystemicEvent } from './systemic.ts';
import type { WitnessContext } from './telemetry/witness.ts';
import type { CircuitSpec, ToolSettings, ToolSpec } from './tool.ts';

/** When failures of several tools count as one event, and what follows from it (S1, S2, S5). */
export interface SystemicRules extends CorrelationPolicy {
  /** `pause`: each decision. `skip`: those of affected tools. */
  readonly decision: SystemicDecision;
  /** The policy of calls that probe for the event; undefined if no call may. */
  readonly gate: CircuitPolicy | undefined;
  /** The tools that an event affects: its own, members of its groups, and all tools that depend on them. */
  affectedBy(event: SystemicEvent): ReadonlySet<string>;
  /** Grows with each declared tool, because the tools that an event affects may have changed. */
  version(): number;
}

/** What a session shares with its box. */
export interface SessionContext extends WitnessContext {
  /** Undefined: failures of several tools never count as one event. */
  readonly systemic: SystemicRules | undefined;
  /** Watches for the end of systemic events (S5): one watch for a session, or for all that share their circuits. */
  recoveryWatch(): RecoveryWatch | undefined;
  /** The circuits that all sessions share; undefined where each has its own (C12). */
  readonly shared: CircuitStore | undefined;
  /** Whether the box has circuits (B5). */
  readonly keepsCircuits: boolean;
  /** Number of equal calls in a row that is too many (O5); undefined: calls may repeat. */
  readonly repeats: number | undefined;
  /** Latest answers of pre-call checks (K3). */
  readonly prechecks: PrecheckBoard;
  /** Settings of tools that were never declared. */
  readonly undeclared: ToolSettings;
  /** Names of the tools that have settings of their own. */
  readonly configured: ReadonlySet<string>;
  /** Configured tools that were neither called nor declared by an adapter yet. */
  readonly unused: Set<string>;
  /** What may show a mistake in the program. */
  readonly evidence: Evidence;
  tool(name: string): ToolSpec | undefined;
  /** A group's circuit, by its name `group:NAME`; undefined while no declared tool is in it. */
  group(name: string): CircuitSpec | undefined;
  /** Bounded, because the name may come from a server or a model. `group`: the group for a tool that has none of its own (C13). */
  declare(name: string, group: string | undefined): void;
  /** Names of the declared tools. */
  tools(): Iterable<string>;
  /** The longest wait of a tool, in milliseconds, because of its dependencies (P4); undefined: its own policy decides. */
  capMs(tool: string): number | undefined;
}
