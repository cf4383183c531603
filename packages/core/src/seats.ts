import { show } from './checks.ts';
import type { SessionContext } from './context.ts';
import { shortened } from './names.ts';
import { createTally, type RunningTally, readTally, type ToolTally } from './tally.ts';
import { OTHER_TOOL } from './telemetry/semconv.ts';
import type { ToolSpec } from './tool.ts';
import type { TrackedCircuit } from './tracked.ts';

/** A tool entry of one session: what its calls are decided by and counted in, found by one map lookup. */
export interface SessionTool {
  readonly tool: string;
  /** Undefined for a tool that was never declared. */
  readonly spec: ToolSpec | undefined;
  /** Undefined for a tool that has no circuit. */
  readonly tracked: TrackedCircuit | undefined;
  /** The circuit of its group; undefined for a tool without one (C13). */
  readonly group: TrackedCircuit | undefined;
  /** What became of its calls, for reports. */
  readonly tally: RunningTally;
}

/** Most tools with a tally of their own, so that a model that makes up names can't fill the memory. */
const MOST_TALLIES = 200;

/** The tools that a session has called. */
export class Seats {
  readonly #box: Pick<SessionContext, 'tool'>;
  readonly #seats = new Map<string, SessionTool>();
  /** The shared tally of all tools that have none of their own. */
  #others: RunningTally | undefined;

  constructor(box: Pick<SessionContext, 'tool'>) {
    this.#box = box;
  }

  /** The name for decisions, telemetry and reports. Untyped callers may pass anything. */
  nameOf(tool: unknown): string {
    return typeof tool === 'string' ? shortened(tool) : show(tool);
  }

  /** The entry of a tool that was called before, unless the tool has since been declared or given a group. */
  find(tool: string): SessionTool | undefined {
    const found = this.#seats.get(tool);
    if (found?.spec !== undefined) return found.spec.group === found.group?.tool ? found : undefined;
    return this.#box.tool(tool) === undefined ? found : undefined;
  }

  /** A new entry, for a tool that is called for the first time or was declared since. Calls under way keep their old entry. */
  make(tool: string, tracked: TrackedCircuit | undefined, group: TrackedCircuit | undefined): SessionTool {
    const tally = this.#seats.get(tool)?.tally ?? this.#tally();
    const seat = { tool, spec: this.#box.tool(tool), tracked, group, tally };
    if (seat.spec !== undefined || tally !== this.#others) this.#seats.set(tool, seat);
    return seat;
  }

  /** All tools that have an entry, in the order of their first calls. */
  all(): readonly SessionTool[] {
    return [...this.#seats.values()];
  }

  /** Tallies by tool, in the order of first calls. Tools without a tally of their own share one name. */
  tallies(): ReadonlyMap<string, ToolTally> {
    const own = [...this.#seats.values()].filter(({ tally }) => tally !== this.#others);
    const tallies = new Map(own.map(({ tool, tally }) => [tool, readTally(tally)]));
    return this.#others === undefined ? tallies : tallies.set(OTHER_TOOL, readTally(this.#others));
  }

  #tally(): RunningTally {
    if (this.#others === undefined && this.#seats.size < MOST_TALLIES) return createTally();
    // A tool may have that very name.
    this.#others ??= this.#seats.get(OTHER_TOOL)?.tally ?? createTally();
    return this.#others;
  }
}
