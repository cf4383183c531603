import type { Span, SpanContext } from '@opentelemetry/api';
import { MOST_KEYS } from '../circuit/key-circuits.ts';
import { keyPassOf } from '../passes.ts';
import type { SessionPermit } from '../permit.ts';
import type { TrackedCircuit } from '../tracked-circuit.ts';
import { spanContextOf } from './spans.ts';

/**
 * The spans of the latest failures of a tool: its own, and those of its keys (C14). Decisions link to them if no circuit of the tool is open: a
 * systemic event may begin with failures alone and the circuits of keys keep no span.
 */
const latest = new WeakMap<TrackedCircuit, Map<string, SpanContext>>();

/** The name of the tool itself beside the hashes of its keys. */
const OF_TOOL = '';

/** Remembers the span of a failed call. */
export const noteFailure = ({ entry, passes }: SessionPermit, span: Span): void => {
  const context = spanContextOf(span);
  if (entry.tracked === undefined || context === undefined) return;
  const spans = latest.get(entry.tracked) ?? new Map<string, SpanContext>();
  latest.set(entry.tracked, spans);
  const key = keyPassOf(passes)?.key ?? OF_TOOL;
  for (const one of new Set([key, OF_TOOL])) {
    spans.delete(one); // The latest one is last.
    spans.set(one, context);
  }
  const [oldest] = spans.keys();
  if (spans.size > MOST_KEYS + 1 && oldest !== undefined) spans.delete(oldest);
};

/** The span that opened a circuit, or of the latest failure of its tool. */
export const failureOf = (tracked: TrackedCircuit): SpanContext | undefined =>
  tracked.openedBy ?? latest.get(tracked)?.get(OF_TOOL);

/** The latest failure of the key that rejects a call, or that the call probes. */
export const failureOfKey = ({ entry, passes, rejection }: SessionPermit): SpanContext | undefined => {
  const { tracked } = entry;
  if (tracked === undefined) return undefined;
  const rejecting = [...(tracked.keys?.circuits ?? [])].find(([, circuit]) => circuit === rejection?.key?.circuit);
  const key = keyPassOf(passes)?.key ?? rejecting?.[0];
  return key === undefined ? undefined : latest.get(tracked)?.get(key);
};
