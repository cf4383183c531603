import { DEFAULT_JUDGEMENT, type Decision, ERROR_CATEGORIES, type Outcome, type Reason } from '@breakerbox/core';
import { inOrder } from '../in-order.ts';
import type { Ending, ReadNotes, RecordedEvent, RecordingFile, RecordingReader, StartEvent } from '../recording.ts';
import { attribute, isModel, isTool, oncePerCall, type Parents, toolOf } from './otlp-calls.ts';
import { type Span, spansOf } from './otlp-json.ts';

/** A share of tool spans without their parents, above which spans were dropped (T4). */
const MISSING_PARENTS = 0.1;
const BATCH = 1000;

/**
 * Spans of agents in OTLP JSON: our own, those of OpenTelemetry's GenAI conventions, of OpenInference, and of the AI SDK. The spans of a
 * file are sorted by time, so a file is kept in memory.
 */
export const otlpReader: RecordingReader = {
  name: 'otlp',
  description: "traces in OTLP JSON, such as lines of the Collector's file exporter",
  recognizes: (head) => /^\s*\{\s*"resource(?:Spans|Logs|Metrics)"\s*:/.test(head),
  async *read(file, notes) {
    const spans: Span[] = [];
    const parents = new Map<string, string | undefined>();
    const sessions = new Map<string, string>();
    for await (const span of spansIn(file, notes)) {
      parents.set(span.spanId, span.parentId);
      // The span of the agent may be the only one of its trace that names the session.
      const session = sessionOf(span);
      if (session !== undefined && !sessions.has(span.traceId)) sessions.set(span.traceId, session);
      if (isTool(span) || isModel(span)) spans.push(span);
    }
    noteSampling(spans, notes);
    noteOrphans(spans, parents, notes);
    yield* eventsOf(oncePerCall(spans, parents), sessions);
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
      else notes.skipped('lines without spans');
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

/** T4: sampled traces, and traces with spans missing. */
const noteSampling = (spans: readonly Span[], notes: ReadNotes): void => {
  const isSampled = ({ traceState, attributes }: Span): boolean =>
    /(?:^|[,;])\s*ot=[^,]*\bth:(?!0(?:[;,]|$))/.test(traceState.slice(0, LONGEST_STATE)) ||
    Number(attributes.get('SampleRate') ?? 1) > 1;
  if (spans.some(isSampled)) notes.incomplete('its spans are sampled');
};

/** T4: the parents of some spans were dropped. */
const noteOrphans = (spans: readonly Span[], parents: Parents, notes: ReadNotes): void => {
  const tools = spans.filter(isTool);
  const orphans = tools.filter(
    ({ parentId, hasRemoteParent }) => parentId !== undefined && !hasRemoteParent && !parents.has(parentId),
  );
  const hasOthers = spans.length > tools.length;
  if (hasOthers && orphans.length > tools.length * MISSING_PARENTS && orphans.length < tools.length) {
    notes.incomplete(`${orphans.length} of ${tools.length} tool spans have no parent in the file`);
  }
};

/** Events of the spans in the order of time. Equal times keep the order of parents before children, and then of the file. */
const eventsOf = function* (
  spans: readonly Span[],
  sessions: ReadonlyMap<string, string>,
): Iterable<readonly RecordedEvent[]> {
  const used = [...spans];
  const guarded = new Set(
    used.filter(hasStep).map(({ traceId, attributes }) => attributes.get('gen_ai.conversation.id') ?? traceId),
  );
  used.sort((one, other) => one.startMs - other.startMs);
  const order = inOrder();
  const steps = new Map<string, number>();
  let batch: RecordedEvent[] = [];
  for (const span of used) {
    const session = sessionOf(span) ?? sessions.get(span.traceId) ?? span.traceId;
    if (!isTool(span) && guarded.has(session)) continue; // Our own spans say their step.
    for (const event of eventsOfSpan(span, session, steps)) order.add(event, batch);
    if (batch.length >= BATCH) {
      yield batch;
      batch = [];
    }
  }
  yield [...batch, ...order.rest()];
};

const sessionOf = (span: Span): string | undefined => attribute(span, 'gen_ai.conversation.id', 'session.id');

const eventsOfSpan = (span: Span, session: string, steps: Map<string, number>): readonly RecordedEvent[] => {
  const { startMs: atMs, endMs, attributes } = span;
  if (!isTool(span)) {
    // The first call of the model begins the first step.
    const before = steps.get(session);
    steps.set(session, (before ?? -1) + 1);
    return before === undefined ? [] : [{ kind: 'step', session, atMs }];
  }
  const own = attributes.get('breakerbox.step');
  const missing = typeof own === 'number' ? own - (steps.get(session) ?? 0) : 0;
  if (typeof own === 'number') steps.set(session, own);
  const events: RecordedEvent[] = Array.from({ length: Math.max(0, missing) }, () => ({ kind: 'step', session, atMs }));
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
  const wasRun = start.decided === undefined || start.decided.decision === 'call' || start.decided.decision === 'probe';
  if (wasRun) {
    const tokens = attributes.get('breakerbox.tokens');
    const cost = typeof tokens === 'number' ? { tokens } : {};
    events.push({ kind: 'end', session, atMs: endMs, callId: span.spanId, ending: endingOf(span), ...cost });
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
  const blames = attribute(span, 'breakerbox.blames') as 'group' | 'key' | undefined;
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
