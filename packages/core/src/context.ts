import type { SystemicPolicy } from './systemic.ts';
import type { WitnessContext } from './telemetry/witness.ts';
import type { ToolSettings, ToolSpec } from './tool.ts';

/** What a session shares with its box. */
export interface SessionContext extends WitnessContext {
  /** Undefined: failures of several tools are never taken as one event. */
  readonly systemic: SystemicPolicy | undefined;
  /** How tools are treated that were never declared. */
  readonly undeclared: ToolSettings;
  tool(name: string): ToolSpec | undefined;
  declare(name: string): void;
}
