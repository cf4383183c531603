import type { ErrorCategory, ToolConfig } from '@breakerbox/core';
import type { Random } from './random.ts';

/** What happens in one run, drawn before its first step. It is the same for every budget. */
export interface World {
  /** How likely the agent wants each tool in a step. Tools that are not listed share the rest equally. */
  readonly wanted?: Readonly<Record<string, number>>;
  /** The tool that the agent always wants in a step; undefined: the shares above decide. */
  readonly wants?: (step: number) => string | undefined;
  /** The category of a tool's outage in a step; undefined while the tool works. Steps count from 1. */
  outage(tool: string, step: number): ErrorCategory | undefined;
}

/** One row of the table. */
export interface Scenario {
  readonly id: string;
  readonly title: string;
  readonly tools: Readonly<Record<string, ToolConfig>>;
  readonly steps: number;
  /** Share of the calls of working tools that fail anyway, independently of each other. */
  readonly stray: number;
  /** Number of calls in a step. Default 1. */
  readonly calls?: number;
  /** The agent never calls `step()`: a step is a turn that passes time. */
  readonly stepless?: true;
  /** Share of the runs that are played, for long ones. Default 1. */
  readonly share?: number;
  /** The row has a limit, but is not shown: another one like it is. */
  readonly hidden?: true;
  /** Draws the world of one run. */
  world(random: Random): World;
}

/** Seconds of clock time in a step: a turn of a model and a call of a tool. */
export const STEP_MS = 5_000;
const MINUTE_MS = 60_000;
/** Steps in a minute. */
export const STEPS_A_MINUTE = MINUTE_MS / STEP_MS;
/** Steps of a run, unless a scenario needs a longer one: five minutes. */
export const USUAL_STEPS = 60;

/** A world in which the tools of `outages` are unavailable from the first step to the last. */
export const dead = (
  outages: Readonly<Record<string, ErrorCategory>>,
  wanted: Readonly<Record<string, number>> = {},
): World => ({ wanted, outage: (tool) => outages[tool] });

/** A world without an outage. */
export const sound: World = { outage: () => undefined };
