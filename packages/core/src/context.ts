import type { CircuitPolicy } from './circuit/policy.ts';
import type { CorrelationPolicy } from './correlation.ts';
import type { PrecheckBoard } from './precheck.ts';
import type { SystemicDecision } from './reasons.ts';
import type { RecoveryWatch } from './recovery.ts';
import type { CircuitStore } from './store.ts';
import type { SystemicEvent } from './systemic.ts';
import type { WitnessContext } from './telemetry/witness.ts';
import type { CircuitSpec, ToolSettings, ToolSpec } from './tool.ts';

/** How failures of several tools are taken as one event, and what follows from it (S1, S2, S5). */
export interface SystemicRules extends CorrelationPolicy {
  /** `pause`: each decision. `skip`: those of affected tools. */
  readonly decision: SystemicDecision;
  /** When a call may probe for the event; undefined where none may. */
  readonly gate: CircuitPolicy | undefined;
  /** The tools that an event concerns: its own, members of its groups, and what depends on them. */
  affectedBy(event: SystemicEvent): ReadonlySet<string>;
  /** Grows with each tool that is declared: what an event concerns may have changed. */
  version(): number;
}

/** What a session shares with its box. */
export interface SessionContext extends WitnessContext {
  /** Undefined: failures of several tools are never taken as one event. */
  readonly systemic: SystemicRules | undefined;
  /** Watches for the end of systemic events (S5): one watch for a session, or for all that share their circuits. */
  recoveryWatch(): RecoveryWatch | undefined;
  /** The circuits that all sessions share; undefined where each has its own (C12). */
  readonly shared: CircuitStore | undefined;
  /** Whether there are circuits at all (B5). */
  readonly keepsCircuits: boolean;
  /** Calls alike in a row that are too many (O5); undefined: calls may repeat themselves. */
  readonly repeats: number | undefined;
  /** Latest answers of pre-call checks (K3). */
  readonly prechecks: PrecheckBoard;
  /** How tools are treated that were never declared. */
  readonly undeclared: ToolSettings;
  /** Names of the tools that have settings of their own. */
  readonly configured: ReadonlySet<string>;
  /** Those of them that were neither called nor declared by an adapter yet. */
  readonly unused: Set<string>;
  tool(name: string): ToolSpec | undefined;
  /** A group's circuit, by its name `group:NAME`; undefined while no declared tool is in it. */
  group(name: string): CircuitSpec | undefined;
  /** Bounded: the name may come from a server or a model. `group`: of a tool that has none of its own (C13). */
  declare(name: string, group: string | undefined): void;
  /** Names of the declared tools. */
  tools(): Iterable<string>;
  /** The longest that a tool's wait may be, in milliseconds, for what it depends on (P4); undefined: its own policy's. */
  capMs(tool: string): number | undefined;
}
