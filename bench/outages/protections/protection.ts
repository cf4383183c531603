import type { Breakerbox, Session } from '@breakerbox/core';
import type { Relay } from '../../../packages/cli/src/mcp/relay.ts';
import type { Arguments } from '../airline/tools.ts';

export type CallTool = (tool: string, given: Arguments, signal?: AbortSignal) => Promise<string>;

/** What a framework's loop is given. */
export interface Guarding {
  /** Calls a tool, through a breaker of another library if there is one. */
  readonly call: CallTool;
  /** Breakerbox decides, through the adapter of the framework. */
  readonly session?: Session;
  /** The alternatives that Breakerbox may call itself. */
  readonly inPlace?: readonly string[];
  /** Breakerbox decides in a relay in front of an MCP server. */
  readonly relay?: Relay;
  /** Breakerbox guards two models of this box. */
  readonly models?: Breakerbox;
  /** The framework retries tools and models by its own means, if it has any. */
  readonly own?: boolean;
}

/** The protection of one run. */
export interface ProtectedRun {
  /** For each process, given how it calls tools. */
  guard(process: number, call: CallTool): Guarding;
  end(): Promise<void>;
}

export interface Protection {
  readonly id: string;
  readonly text: string;
  /** How many processes work at once. Default 1. */
  readonly processes?: number;
  begin(): ProtectedRun;
}
