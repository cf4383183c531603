import { ERROR_CATEGORIES, type ErrorCategory, type Outcome } from '@breakerbox/core';
import { inOrder } from '../in-order.ts';
import type { Ending, ReadNotes, RecordedEvent, RecordingReader } from '../recording.ts';

/**
 * One row of a JSONL or CSV recording. `kind` is `call` (default: the whole call in one row), `start`, `end` or `step`. The page "Replay"
 * describes each field.
 */
export interface Row {
  readonly kind?: unknown;
  readonly session?: unknown;
  readonly at?: unknown;
  readonly tool?: unknown;
  readonly callId?: unknown;
  readonly agent?: unknown;
  readonly group?: unknown;
  readonly input?: unknown;
  readonly durationMs?: unknown;
  readonly outcome?: unknown;
  readonly category?: unknown;
  readonly retryAfterMs?: unknown;
  readonly error?: unknown;
  readonly result?: unknown;
  readonly tokens?: unknown;
}

/** The documented format: one JSON object per line. */
export const jsonlReader: RecordingReader = {
  name: 'jsonl',
  description: 'one JSON object per line, as the page "Replay" describes',
  recognizes: (head) => {
    const row = parsed(head.split('\n', 1)[0] ?? '');
    return row !== undefined && row.session !== undefined && row.at !== undefined;
  },
  async *read(file, notes) {
    const order = inOrder();
    let number = 0;
    for await (const lines of file.lines()) {
      const events: RecordedEvent[] = [];
      for (const line of lines) {
        number += 1;
        const row = parsed(line);
        if (row === undefined) notes.skipped('lines that are not a JSON object');
        else for (const event of eventsOf(row, number, notes)) order.add(event, events);
      }
      yield events;
    }
    yield order.rest();
  },
};

const parsed = (line: string): Row | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const NONE: readonly RecordedEvent[] = [];

/** The events of a row. A row that makes no sense is counted by its fault, and left out. */
export const eventsOf = (row: Row, number: number, notes: ReadNotes): readonly RecordedEvent[] => {
  const kind = row.kind ?? 'call';
  const session = textOf(row.session);
  const atMs = timeOf(row.at);
  if (session === undefined) return skip(notes, 'rows without session');
  if (atMs === undefined) return skip(notes, 'rows whose at is neither an ISO date nor Unix milliseconds');
  if (kind !== 'call' && kind !== 'start' && kind !== 'end' && kind !== 'step') {
    return skip(notes, 'rows of another kind than call, start, end or step');
  }
  if (kind === 'step') return [{ kind, session, atMs }];
  const callId = textOf(row.callId) ?? (kind === 'call' ? `row ${number}` : undefined);
  if (callId === undefined) return skip(notes, 'rows of kind start or end without callId');
  if (kind === 'end') return [endOf(row, session, atMs, callId)];
  const tool = textOf(row.tool);
  if (tool === undefined) return skip(notes, 'rows without tool');
  const [agent, group] = [textOf(row.agent), textOf(row.group)];
  const start: RecordedEvent = { kind: 'start', session, atMs, tool, callId, agent, group, input: row.input };
  if (kind === 'start') return [start];
  return [start, endOf(row, session, atMs + (numberOf(row.durationMs) ?? 0), callId)];
};

const skip = (notes: ReadNotes, what: string): readonly RecordedEvent[] => {
  notes.skipped(what);
  return NONE;
};

const endOf = (row: Row, session: string, atMs: number, callId: string): RecordedEvent => {
  const tokens = numberOf(row.tokens);
  return { kind: 'end', session, atMs, callId, ending: endingOf(row), ...(tokens !== undefined && { tokens }) };
};

const OUTCOMES: readonly Outcome[] = ['success', 'failure', 'ignored'];

/** `outcome` decides. Without it `error` is judged, and then `result`; a row without any of them is a success. */
const endingOf = ({ outcome, category, retryAfterMs, error, result }: Row): Ending => {
  const said = OUTCOMES.find((one) => one === outcome);
  if (said !== undefined) {
    const known = ERROR_CATEGORIES.find((one: ErrorCategory) => one === category);
    return { outcome: said, category: known, retryAfterMs: numberOf(retryAfterMs) };
  }
  if (error !== undefined && error !== null && error !== '') return { error };
  return { result };
};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;

const numberOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && number >= 0 && Number.isFinite(number) ? number : undefined;
};

/** Unix milliseconds of a date or a number. */
export const timeOf = (value: unknown): number | undefined => {
  const ms = typeof value === 'string' ? (numberOf(value) ?? Date.parse(value)) : value;
  return typeof ms === 'number' && Number.isFinite(ms) && ms >= 0 ? ms : undefined;
};
