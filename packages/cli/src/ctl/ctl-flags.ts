import type { CommandIo } from '../command-io.ts';
import { type TargetFlags, targetsOf } from './targets.ts';

/** For scripts: 1 for what failed, 3 for what is stale, 4 for what does not exist. Errors of commander are 1. */
export const CODES = { done: 0, stale: 3, unknown: 4 } as const;

export interface Flags extends TargetFlags {
  readonly json?: boolean;
  readonly agent?: string;
  readonly session?: string;
  readonly cycle?: number;
  readonly size?: number;
  readonly event?: string;
  readonly reason?: string;
  readonly for?: number;
  readonly owner?: string;
  readonly allOwners?: true;
}

/** What a command of `ctl` is given. */
export interface Invocation {
  readonly flags: Flags;
  readonly io: CommandIo;
  readonly env: NodeJS.ProcessEnv;
}

/** @throws Error if there is no endpoint. */
export const reachable = ({ flags, env }: Invocation) => {
  const targets = targetsOf(flags, env);
  if (targets.length > 0) return targets;
  throw new Error(
    'no agent with a control API was found on this machine for this user. Call startControl({ boxes }) of @breakerbox/control in the agent. For an MCP server, give breakerbox mcp the option --control. Or give an address with --endpoint.',
  );
};
