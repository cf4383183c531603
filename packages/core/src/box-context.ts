import type { RecoveryWatch } from './budget/recovery.ts';
import type { SystemicRules } from './budget/systemic.ts';
import type { CircuitStore } from './circuit-store.ts';
import type { SessionOptions } from './config/config.ts';
import type { LastResults } from './freshness/last-good.ts';
import type { TreeLimits } from './limits/children.ts';
import type { UsageContext } from './mistakes.ts';
import type { Overrides } from './overrides.ts';
import type { PrecheckCache } from './precheck.ts';
import type { TelemetryContext } from './telemetry/session-telemetry.ts';
import type { CircuitSpec, ToolLookup, ToolSettings } from './tool.ts';

/** What a session shares with its box. */
export interface BoxContext extends TelemetryContext, UsageContext, ToolLookup {
  /** Undefined: failures of several tools never count as one event. */
  readonly systemic: SystemicRules | undefined;
  /** Watches for the end of systemic events (S5): one watch for a session, or for all that share their circuits. */
  recoveryWatch(): RecoveryWatch | undefined;
  /** The circuits that all sessions share; undefined where each has its own (C12). */
  readonly shared: CircuitStore | undefined;
  /** How large the trees of its sessions may be (D1). */
  readonly tree: TreeLimits;
  /** Number of equal calls in a row that is too many (O5); undefined: calls may repeat. */
  readonly repeats: number | undefined;
  /** Whether the model is told that it goes in circles (D5). */
  readonly findsCircles: boolean;
  readonly overrides: Overrides;
  /** Last good results of all sessions (F2). */
  readonly results: LastResults;
  /** Latest answers of pre-call checks (K3). */
  readonly prechecks: PrecheckCache;
  /** Settings of tools that were never declared. */
  readonly undeclared: ToolSettings;
  /** C18: the settings of tools that a session has of its own; undefined for a box. */
  readonly ownTools?: SessionOptions['tools'] | undefined;
  /** A group's circuit, by its name `group:NAME`; undefined while no declared tool is in it. */
  group(name: string): CircuitSpec | undefined;
  /** Bounded, because the name may come from a server or a model. `group`: the group for a tool that has none of its own (C13). */
  declare(name: string, group: string | undefined): void;
  /** The longest wait of a tool, in milliseconds, because of its dependencies (P4); undefined: its own policy decides. */
  capMs(tool: string): number | undefined;
}
