import type { Breakerbox, Session } from '@breakerbox/core';
import type { Relay } from '../../../packages/cli/src/mcp/relay.ts';
import type { Arguments } from '../airline/tools.ts';
import type { Provider } from '../world/client.ts';

export type CallTool = (tool: string, given: Arguments, signal?: AbortSignal) => Promise<string>;

/** One turn, of a model that is chosen for it. */
export type TurnOf<Turn> = (provider: Provider) => Promise<Turn>;
export type AskModel = <Turn>(turnOf: TurnOf<Turn>) => Promise<Turn>;

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
  /** Asks a model for each turn, the first or the second one. Default: the framework does. */
  readonly ask?: AskModel;
  /** The conversation is over. */
  end?(): void;
}

/** The protection of one run. */
export interface ProtectedRun {
  /** For each conversation of a process, given how it calls tools. */
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
