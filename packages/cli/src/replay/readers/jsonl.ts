import { DEFAULT_JUDGEMENT, ERROR_CATEGORIES, type ErrorCategory, type Outcome } from '@breakerbox/core';
import { inOrder } from '../in-order.ts';
import {
  type Ending,
  type ReadNotes,
  type RecordedEvent,
  type RecordingReader,
  type Used,
  usedBy,
} from '../recording.ts';

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
  readonly cost?: unknown;
}

/** The documented format: one JSON object per line. */
export const jsonlReader: RecordingReader = {
  name: 'jsonl',
  description: 'one JSON object per line, as the page "Replay" describes',
  recognizes: (head) => /^[ \t]{0,8}\{/m.test(head) && /"session"\s*:/.test(head) && /"(?:at|tool)"\s*:/.test(head),
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
  noteUnknown(row, notes); // First: a field that is missing may be there under another name.
  if (session === undefined) return skip(notes, 'rows without session');
  if (isEmpty(row.at)) return skip(notes, 'rows without at');
  if (atMs === undefined) return skip(notes, 'rows whose at is neither an ISO date nor Unix milliseconds');
  if (kind !== 'call' && kind !== 'start' && kind !== 'end' && kind !== 'step') {
    return skip(notes, 'rows of another kind than call, start, end or step');
  }
  if (isInSeconds(atMs)) return skip(notes, 'rows whose at is in seconds; give milliseconds');
  if (kind === 'step') {
    const used = usedOf(row);
    const spend = Object.keys(used).length === 0 ? [] : [{ kind: 'spend' as const, session, atMs, ...used }];
    return [...spend, { kind, session, atMs }];
  }
  const callId = textOf(row.callId) ?? (kind === 'call' ? `row ${number}` : undefined);
  if (callId === undefined) return skip(notes, 'rows of kind start or end without callId');
  if (!isEmpty(row.outcome) && !OUTCOMES.some((one) => one === row.outcome)) {
    return skip(notes, 'rows whose outcome is not success, failure or ignored');
  }
  if (!isEmpty(row.category) && categoryOf(row) === undefined)
    notes.assumed('categories that Breakerbox does not have');
  if (kind === 'end') return [endOf(row, session, atMs, callId)];
  const tool = textOf(row.tool);
  if (tool === undefined) return skip(notes, 'rows without tool');
  const [agent, group] = [textOf(row.agent), textOf(row.group)];
  const start: RecordedEvent = { kind: 'start', session, atMs, tool, callId, agent, group, input: row.input };
  if (kind === 'start') return [start];
  const endMs = Math.min(atMs + (numberOf(row.durationMs) ?? 0), LATEST_MS);
  return [start, endOf(row, session, endMs, callId)];
};

/** Fields of a file that a note names. A file may have a new name in each row. */
const MOST_NAMED = 20;
const named = new WeakMap<ReadNotes, Set<string>>();

/** A misspelt field would be missing without a word. */
const noteUnknown = (row: Row, notes: ReadNotes): void => {
  for (const name of Object.keys(row)) {
    if (FIELDS.has(name)) continue;
    const names = named.get(notes) ?? new Set();
    named.set(notes, names);
    const isNamed = names.has(name) || (names.size < MOST_NAMED && /^\w{1,40}$/.test(name));
    if (isNamed) names.add(name);
    notes.assumed(isNamed ? `field ${name}, which is not read` : 'other fields that are not read');
  }
};

const FIELDS: ReadonlySet<string> = new Set(
  Object.keys({
    kind: true,
    session: true,
    at: true,
    tool: true,
    callId: true,
    agent: true,
    group: true,
    input: true,
    durationMs: true,
    outcome: true,
    category: true,
    retryAfterMs: true,
    error: true,
    result: true,
    tokens: true,
    cost: true,
  } satisfies Record<keyof Row, true>),
);

const skip = (notes: ReadNotes, what: string): readonly RecordedEvent[] => {
  notes.skipped(what);
  return NONE;
};

const endOf = (row: Row, session: string, atMs: number, callId: string): RecordedEvent => ({
  kind: 'end',
  session,
  atMs,
  callId,
  ending: endingOf(row),
  ...usedOf(row),
});

const usedOf = (row: Row): Used => usedBy({ tokens: numberOf(row.tokens), cost: numberOf(row.cost) });

const OUTCOMES: readonly Outcome[] = ['success', 'failure', 'ignored'];

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

const categoryOf = ({ category }: Row): ErrorCategory | undefined =>
  isEmpty(category) ? undefined : ERROR_CATEGORIES.find((one) => one === category);

/** `outcome` decides, then `category`. Without them `error` is judged, and then `result`; a row without any of them is a success. */
const endingOf = (row: Row): Ending => {
  const category = categoryOf(row);
  const outcome = OUTCOMES.find((one) => one === row.outcome) ?? (category && DEFAULT_JUDGEMENT[category]);
  if (outcome !== undefined) return { outcome, category, retryAfterMs: numberOf(row.retryAfterMs) };
  return isEmpty(row.error) ? { result: row.result } : { error: row.error };
};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;

const numberOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && number >= 0 && Number.isFinite(number) ? number : undefined;
};

/** The year 3000. Later times are not in milliseconds. */
const LATEST_MS = 32_503_680_000_000;

/** Unix milliseconds of a date or a number. */
export const timeOf = (value: unknown): number | undefined => {
  const ms = typeof value === 'string' ? (numberOf(value) ?? Date.parse(value)) : value;
  return typeof ms === 'number' && ms >= 0 && ms <= LATEST_MS ? ms : undefined;
};

/** Unix seconds from 2001 on. As milliseconds they are in the first months of 1970. */
const isInSeconds = (ms: number): boolean => ms >= 1e9 && ms < 1e10;
