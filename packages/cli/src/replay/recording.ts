import type { Blamed, Decision, ErrorCategory, Outcome, Reason } from '@breakerbox/core';
import type { ModelCallVerdict } from '@breakerbox/instrumentation';

/**
 * How a recorded call ended. `error` was thrown, `result` was returned: the classifier judges both. `outcome` was judged by the program that made
 * the recording, and is taken as it is.
 */
export type Ending =
  | {
      readonly outcome: Outcome;
      readonly category?: ErrorCategory | undefined;
      readonly retryAfterMs?: number | undefined;
      /** What the failure blames (C13, C14). Default: the tool. */
      readonly blames?: Blamed | undefined;
    }
  | { readonly error: unknown }
  | { readonly result: unknown };

interface EventBase {
  /** The id of the session in the recording. */
  readonly session: string;
  /** Unix milliseconds by the recording's clock. */
  readonly atMs: number;
}

/** The agent asked for a tool. */
export interface StartEvent extends EventBase {
  readonly kind: 'start';
  readonly tool: string;
  /** Joins a start with its end. Unique in its session while the call runs. */
  readonly callId: string;
  readonly agent?: string | undefined;
  /** The arguments, for the loop guard and the classifier. They are never printed. */
  readonly input?: unknown;
  /** The group of the tool, such as its MCP server (C13). */
  readonly group?: string | undefined;
  /** The decision of the live run, if Breakerbox guarded it. */
  readonly decided?: { readonly decision: Decision; readonly reason: Reason } | undefined;
}

/** What a tool or a model used, as far as the recording says so (D3). */
export interface Used {
  readonly tokens?: number | undefined;
  /** Money, in the currency of the limit. */
  readonly cost?: number | undefined;
}

/** Only the amounts that are known. */
export const usedBy = ({ tokens, cost }: Used): Used => ({
  ...(tokens !== undefined && { tokens }),
  ...(cost !== undefined && { cost }),
});

export const sumOf = (one: Used = {}, other: Used): Used =>
  usedBy({ tokens: add(one.tokens, other.tokens), cost: add(one.cost, other.cost) });

const add = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : one + (other ?? 0);

/** A tool answered. */
export interface EndEvent extends EventBase, Used {
  readonly kind: 'end';
  readonly callId: string;
  readonly ending: Ending;
}

/** A turn of the agent loop ended: the model was called again. */
export interface StepEvent extends EventBase {
  readonly kind: 'step';
}

/** A model answered. */
export interface SpendEvent extends EventBase, Used {
  readonly kind: 'spend';
  readonly agent?: string | undefined;
}

/** Code or a person resumed the session (`resume`), or ended its systemic event (`confirm`). */
export interface ResumeEvent extends EventBase {
  readonly kind: 'resume' | 'confirm';
}

/** What every reader makes of a recording. */
export type RecordedEvent = StartEvent | EndEvent | StepEvent | SpendEvent | ResumeEvent;

/** A call of a model, as `guardModels` would have judged it (L3). */
export interface RecordedModelCall extends ModelCallVerdict {
  readonly session: string;
  readonly agent: string | undefined;
  /** Unix milliseconds by the recording's clock. */
  readonly startMs: number;
  readonly endMs: number;
}

/** What a reader left out of a file, and what it noticed about the recording as a whole. */
export interface ReadNotes {
  /** Counts rows that were left out, such as `lines that are not JSON`: they may have been calls. */
  skipped(what: string): void;
  /** Counts something that was assumed, or that is no call for certain. */
  assumed(what: string): void;
  /** The version of the program that wrote the file. */
  version(version: string): void;
  /** Evidence that calls are missing (T4), in a few words. */
  incomplete(evidence: string): void;
  /** A call of a model, in any order. */
  modelCall(call: RecordedModelCall): void;
  /** Whether no file of the recording had this key before, for formats that repeat calls in several files. */
  isFirst(key: string): boolean;
}

/** A file of a recording. */
export interface RecordingFile {
  readonly path: string;
  /** Its lines, in batches. */
  lines(): AsyncIterable<readonly string[]>;
  /** All of it. @throws if it is longer than 512 MiB. */
  text(): Promise<string>;
  /** Whether it can be read only once. */
  isPipe(): Promise<boolean>;
}

/** Reads one format. Each has a file of its own in `readers/`. */
export interface RecordingReader {
  /** The name of the format, as `--format` takes it. */
  readonly name: string;
  /** One line for `--help`. */
  readonly description: string;
  /** Whether a file that begins like this is of the format. `head` is at most 64 KiB. */
  recognizes(head: string, path: string): boolean;
  /** The events, in batches, ordered by time within each session. */
  read(file: RecordingFile, notes: ReadNotes): AsyncIterable<readonly RecordedEvent[]>;
  /**
   * For formats that split a session over several files: looks at all files of the format first, and gives the `read` to use instead. It is
   * called once for each file, in this order.
   */
  over?(files: readonly RecordingFile[]): Promise<RecordingReader['read']>;
}
