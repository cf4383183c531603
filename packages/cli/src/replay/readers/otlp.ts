import {
  type Blamed,
  DEFAULT_JUDGEMENT,
  type Decision,
  ERROR_CATEGORIES,
  type Outcome,
  type Reason,
} from '@breakerbox/core';
import { inOrder } from '../in-order.ts';
import type { Ending, ReadNotes, RecordedEvent, RecordingFile, RecordingReader, StartEvent } from '../recording.ts';
import { attribute, isModel, isTool, resumedBy, toolOf } from './otlp-calls.ts';
import { type Span, spansOf } from './otlp-json.ts';
import { modelCallsOf } from './otlp-models.ts';
import { type Call, tracesOver } from './otlp-traces.ts';

const BATCH = 1000;

/** Reads files of one command, over which traces may be split. */
const readOver = async (files: readonly RecordingFile[]): Promise<RecordingReader['read']> => {
  const traces = await tracesOver(files);
  const progress: Progress = { steps: new Map(), guarded: new Set() };
  return async function* (file, notes) {
    try {
      for await (const span of spansIn(file, notes)) {
        traces.add(span);
        if (isSampled(span)) notes.incomplete('its spans are sampled');
      }
    } finally {
      const calls = traces.take(file, notes);
      for (const { span, session, isAbove } of calls) {
        if (isModel(span) && !isAbove) for (const call of modelCallsOf(span, session)) notes.modelCall(call);
      }
      yield* eventsOf(calls, progress);
    }
  };
};

/**
 * Spans of agents in OTLP JSON: our own, those of OpenTelemetry's GenAI conventions, of OpenInference, and of the AI SDK. The spans of a
 * file are sorted by time, so a file is kept in memory, and so are traces that go on in a later file.
 */
export const otlpReader: RecordingReader = {
  name: 'otlp',
  description: "traces in OTLP JSON, such as lines of the Collector's file exporter",
  recognizes: (head) => /^\s*\{\s*"resource(?:Spans|Logs|Metrics)"\s*:/.test(head),
  over: readOver,
  async *read(file, notes) {
    yield* (await readOver([file]))(file, notes);
  },
};

/** One message per line, or one message that takes the whole file. */
const spansIn = async function* (file: RecordingFile, notes: ReadNotes): AsyncIterable<Span> {
  let isWhole = false;
  for await (const lines of file.lines()) {
    for (const line of lines) {
      const message = parsed(line);
      // A message that is printed over several lines begins with a line that is no JSON.
      if (message === undefined && line.trimEnd().endsWith('{')) isWhole = true;
      if (isWhole) break;
      const found = spansOf(message);
      if (found) yield* found;
      else if (message === undefined) notes.skipped('lines that are not JSON');
      else notes.assumed('lines without spans');
    }
    if (isWhole) break;
  }
  if (isWhole) yield* spansOf(parsed(await file.text())) ?? [];
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const hasStep = ({ attributes }: Span): boolean => attributes.has('breakerbox.step');

/** Characters of a trace state that are read: W3C's limit. */
const LONGEST_STATE = 512;

/** T4: some calls of the trace may have no span. */
const isSampled = (span: Span): boolean =>
  (isTool(span) || isModel(span)) &&
  (/(?:^|[,;])\s*ot=[^,]*\bth:(?!0(?:[;,]|$))/.test(span.traceState.slice(0, LONGEST_STATE)) ||
    Number(span.attributes.get('SampleRate') ?? 1) > 1);

/** What is known of the sessions of all files. */
interface Progress {
  /** Steps of each session. */
  readonly steps: Map<string, number>;
  /** Sessions whose own spans say their step. */
  readonly guarded: Set<string>;
}

/** Events of the calls in the order of time. Equal times keep the order of parents before children, and then of the file. */
const eventsOf = function* (calls: readonly Call[], progress: Progress): Iterable<readonly RecordedEvent[]> {
  for (const { span, session } of calls) if (hasStep(span)) progress.guarded.add(session);
  const used = calls.filter(
    ({ span, session, tokens }) =>
      isTool(span) || resumedBy(span) || tokens !== undefined || !progress.guarded.has(session),
  );
  used.sort((one, other) => one.span.startMs - other.span.startMs);
  // All steps are counted before the first event, because the next file may be read before the last.
  const steps = used.map((call) => stepsBefore(call, progress));
  const late = endsLate(calls);
  const order = inOrder();
  let batch: RecordedEvent[] = [];
  for (const [index, call] of used.entries()) {
    for (const event of eventsOfCall(call, steps[index] ?? 0, late.has(call.span))) order.add(event, batch);
    if (batch.length >= BATCH) {
      yield batch;
      batch = [];
    }
  }
  yield [...batch, ...order.rest()];
};

/** Steps that end before a call. The first call of the model begins the first step. Of model calls above each other, the innermost counts. */
const stepsBefore = ({ span, session, isAbove }: Call, { steps, guarded }: Progress): number => {
  if (resumedBy(span) || (!isTool(span) && (isAbove || guarded.has(session)))) return 0;
  const known = steps.get(session);
  const own = isTool(span) ? span.attributes.get('breakerbox.step') : (known ?? -1) + 1;
  if (typeof own !== 'number') return 0;
  steps.set(session, own);
  return Math.max(0, own - (known ?? 0));
};

/**
 * Failures that come after the calls that begin in their last millisecond. Spans of OpenTelemetry for JavaScript begin at whole milliseconds, so
 * the times of calls that ran side by side do not say which came first. What says it: a call of the same turn was run, or was rejected and is
 * before the failure in the file, where spans are in the order of their ends.
 */
const endsLate = (calls: readonly Call[]): ReadonlySet<Span> => {
  const turns = new Map<string, { readonly place: number; readonly call: Call }[]>();
  const at = ({ session }: Call, ms: number): string => `${ms} ${session}`;
  for (const [place, call] of calls.entries()) {
    if (!hasStep(call.span)) continue;
    const key = at(call, call.span.startMs);
    const known = turns.get(key);
    if (known) known.push({ place, call });
    else turns.set(key, [{ place, call }]);
  }
  const found = new Set<Span>();
  for (const [place, call] of calls.entries()) {
    const { span } = call;
    if (attribute(span, 'breakerbox.outcome') !== 'failure' || !hasStep(span)) continue;
    const others = (turns.get(at(call, Math.floor(span.endMs))) ?? []).filter((other) => other.call !== call);
    const isBeside = others.some((other) => wasRun(other.call.span) || other.place < place);
    if (isBeside && others.every((other) => stepOf(other.call.span) === stepOf(span))) found.add(span);
  }
  return found;
};

const stepOf = ({ attributes }: Span): unknown => attributes.get('breakerbox.step');

const wasRun = (span: Span): boolean => {
  const decided = decidedOf(span);
  return decided === undefined || decided.decision === 'call' || decided.decision === 'probe';
};

const eventsOfCall = ({ span, session, tokens }: Call, steps: number, isLate: boolean): readonly RecordedEvent[] => {
  const { startMs: atMs } = span;
  // OpenTelemetry for JavaScript begins spans at whole milliseconds, and ends them between those: what follows would be before the end.
  const endMs = Math.max(atMs, isLate ? span.endMs : Math.floor(span.endMs));
  const events: RecordedEvent[] = Array.from({ length: steps }, () => ({ kind: 'step', session, atMs }));
  const action = resumedBy(span);
  if (action) return [{ kind: action, session, atMs }];
  if (!isTool(span)) {
    if (tokens !== undefined) events.push({ kind: 'spend', session, atMs: endMs, tokens });
    return events;
  }
  const start: StartEvent = {
    kind: 'start',
    session,
    atMs,
    tool: toolOf(span),
    callId: span.spanId,
    agent: attribute(span, 'gen_ai.agent.name'),
    group: attribute(span, 'breakerbox.group'),
    input: inputOf(span),
    decided: decidedOf(span),
  };
  events.push(start);
  if (wasRun(span)) {
    events.push({ kind: 'end', session, atMs: endMs, callId: span.spanId, ending: endingOf(span), tokens });
  }
  return events;
};

const decidedOf = (span: Span): StartEvent['decided'] => {
  const decision = attribute(span, 'breakerbox.decision') as Decision | undefined;
  const reason = attribute(span, 'breakerbox.reason') as Reason | undefined;
  return decision && reason && { decision, reason };
};

const inputOf = ({ attributes }: Span): unknown =>
  fromText(attributes, 'gen_ai.tool.call.arguments', 'input.value', 'ai.toolCall.args');

/** The first of these attributes, which are JSON as a text or structured. */
const fromText = (attributes: Span['attributes'], ...names: readonly string[]): unknown => {
  const value = names.map((name) => attributes.get(name)).find((one) => one !== undefined && one !== '');
  return typeof value === 'string' ? (parsed(value) ?? value) : value;
};

const endingOf = (span: Span): Ending => {
  const { attributes, exception, isError, statusMessage } = span;
  const type = attribute(span, 'error.type');
  const category = ERROR_CATEGORIES.find((one) => one === type);
  const outcome = attribute(span, 'breakerbox.outcome') as Outcome | undefined;
  const wait = attributes.get('breakerbox.retry_after');
  const retryAfterMs = typeof wait === 'number' ? wait * 1000 : undefined;
  const blames = attribute(span, 'breakerbox.blames') as Blamed | undefined;
  if (outcome !== undefined) return { outcome, category, retryAfterMs, blames };
  if (category !== undefined) return { outcome: DEFAULT_JUDGEMENT[category], category, retryAfterMs };
  if (type !== undefined || isError || exception) {
    const message = exception?.get('exception.message') ?? statusMessage ?? type ?? '';
    const status = Number(type);
    const named = { name: exception?.get('exception.type') ?? type ?? 'Error', code: type };
    return { error: Object.assign(new Error(String(message)), named, status >= 400 && { status }) };
  }
  const result = fromText(attributes, 'gen_ai.tool.call.result', 'output.value', 'ai.toolCall.result');
  return { result: failedMessage(result) ?? result };
};

/** LangChain's tool node catches errors, and answers with a message that says so. OpenInference records it as a good result. */
const failedMessage = (result: unknown): unknown => {
  let message = result as { readonly [key: string]: unknown } | null | undefined;
  for (const key of ['output', 'kwargs']) {
    const inner = message?.[key];
    if (typeof inner === 'object') message = inner as typeof message;
  }
  if (message?.status !== 'error' || typeof message.tool_call_id !== 'string') return undefined;
  const { content } = message;
  return { isError: true, content: typeof content === 'string' ? [{ type: 'text', text: content }] : content };
};
