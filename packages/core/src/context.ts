import type { PrecheckBoard } from './precheck.ts';
import type { RecoveryWatch } from './recovery.ts';
import type { CircuitStore } from './store.ts';
import type { Correlation } from './systemic.ts';
import type { WitnessContext } from './telemetry/witness.ts';
import type { ToolSettings, ToolSpec } from './tool.ts';

/** What a session shares with its box. */
export interface SessionContext extends WitnessContext {
  /** Undefined: failures of several tools are never taken as one event. */
  readonly systemic: Correlation | undefined;
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
  tool(name: string): ToolSpec | undefined;
  /** Bounded: the name may come from a server or a model. */
  declare(name: string): void;
  /** Names of the declared tools. */
  tools(): Iterable<string>;
  /** The longest that a tool's wait may be, in milliseconds, for what it depends on (P4); undefined: its own policy's. */
  capMs(tool: string): number | undefined;
}
