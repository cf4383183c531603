import {
  type Attributes,
  type Context,
  context,
  type Span,
  type SpanContext,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { SessionState } from '../budget/ledger.ts';
import { type SystemicEvent, suspectOf } from '../budget/systemic.ts';
import { shortened } from '../checks/names.ts';
import { type Circuit, type CircuitMode, reportedState } from '../circuit/circuit.ts';
import { keyCircuit } from '../circuit/key-circuits.ts';
import type { Judged } from '../outcome.ts';
import { keyPassOf } from '../passes.ts';
import type { SessionPermit } from '../permit.ts';
import { type PauseReason, PROBES, SKIPS, type SkipReason } from '../reasons.ts';
import type { Route } from '../routing/route.ts';
import { isObject, read, reportThrown, safely } from '../safely.ts';
import type { AcquireOptions } from '../session-api.ts';
import { currentTracer } from './otel-binding.ts';
import { ATTR, OPERATION, TOOL_TYPES } from './semconv.ts';

/** The span of a whole run. Only its session holds it. */
export interface SessionSpan {
  readonly span: Span;
  /** The span that was active when the session began, such as that of an HTTP request. */
  readonly around: Span | undefined;
  /** That of the session above a sub-agent (D1). */
  readonly above?: SessionSpan;
  isOpen: boolean;
}

/** Starts the span of a session beneath the active one. Undefined without an SDK, and if that throws. */
export const startSessionSpan = (agent: string, session: string): SessionSpan | undefined => {
  const tracer = currentTracer();
  if (tracer === undefined) return undefined;
  return safely('the tracer', () => {
    const parent = context.active();
    const attributes = { [ATTR.operation]: OPERATION.session, [ATTR.agent]: agent, [ATTR.conversation]: session };
    const span = tracer.startSpan(`${OPERATION.session} ${agent}`, { attributes }, parent);
    return { span, around: trace.getSpan(parent), isOpen: true };
  });
};

/** A span of no length: the session was resumed, or its event was ended from outside. Its other spans don't show that (T8). */
export const traceResume = (
  action: 'resume' | 'confirm',
  agent: string,
  id: string,
  session: SessionSpan | undefined,
): void => {
  const attributes = { [ATTR.agent]: agent, [ATTR.conversation]: id, [ATTR.action]: action };
  safely('the tracer', () =>
    currentTracer()?.startSpan(`breakerbox.${action}`, { attributes }, sessionContext(session)).end(),
  );
};

/** The status of the span of a session that ended while it called no tool. */
const PAUSED = {
  active: undefined,
  paused_budget: 'The session ended while it was paused: its failure budget was used up.',
  paused_systemic: 'The session ended while it was paused: several of its tools failed from one cause.',
  paused_limit: 'The session ended while it was paused: a limit of the run was reached.',
} as const satisfies Record<SessionState, string | undefined>;

/**
 * The outcome of a run, as its span shows it: `failure` if it is paused at its end. Undefined if no end was told, because the caller may have
 * left it in the middle. A run is no success of its task: Breakerbox does not know that. So its status is not OK, but stays unset.
 */
export const outcomeOfRun = (isPaused: boolean, isToldOver: boolean): Attributes => {
  if (isPaused) return { [ATTR.outcome]: 'failure' };
  return isToldOver ? { [ATTR.outcome]: 'success' } : {};
};

/**
 * Ends the span of a session, once. Spans of later decisions stay beneath it.
 * @param isToldOver the caller ended the session
 * @param done what the session has done
 */
export const endSessionSpan = (
  session: SessionSpan | undefined,
  state: SessionState,
  isToldOver: boolean,
  done: () => Attributes,
): void => {
  if (!session?.isOpen) return;
  session.isOpen = false;
  const { span } = session;
  safely('the span', () => {
    if (!span.isRecording()) return;
    const message = PAUSED[state];
    span.setAttributes({ [ATTR.sessionState]: state, ...outcomeOfRun(message !== undefined, isToldOver), ...done() });
    if (message !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message });
  });
  endSpan(span);
};

/**
 * The context for what a session does now. Its span replaces the span around it, or no span. Any other active span belongs to a
 * framework or to a tool of the run, and stays.
 */
export const sessionContext = (session: SessionSpan | undefined): Context => {
  const active = context.active();
  if (session === undefined) return active;
  return isOfRun(trace.getSpan(active), session) ? active : trace.setSpan(active, session.span);
};

/** A library that took its tracer before there was an SDK creates spans that belong to no trace. */
const isOfRun = (active: Span | undefined, session: SessionSpan): boolean => {
  const own = active?.spanContext();
  if (own === undefined || !trace.isSpanContextValid(own)) return false;
  for (let one: SessionSpan | undefined = session; one !== undefined; one = one.above)
    if (isSame(own, one.around) || isSame(own, one.above?.span)) return false;
  return true;
};

/** One `traceparent` that is read twice gives two spans with one id. */
const isSame = ({ spanId }: SpanContext, span: Span | undefined): boolean => spanId === span?.spanContext().spanId;

/** Starts the span of a decision, and gives it to the permit; undefined if that throws. */
export const startDecisionSpan = (
  tracer: Tracer,
  permit: SessionPermit,
  agent: string,
  session: SessionSpan | undefined,
): Span | undefined => {
  try {
    const parent = sessionContext(session);
    const isExecution = permit.executes && !insideExecuteTool(permit.tool, parent);
    const name = `${isExecution ? OPERATION.call : `breakerbox.${permit.decision}`} ${permit.tool}`;
    const span = tracer.startSpan(name, { attributes: atStart(permit, agent, isExecution) }, parent);
    permit.traced(span, parent);
    return span;
  } catch (error) {
    reportThrown('the tracer', error);
    return undefined;
  }
};

/**
 * What a sampler may decide by. Only the span of an execution has that operation, and its name: backends count such spans as executions. Those
 * of skips and pauses do not count, nor does ours beneath a framework's own.
 */
const atStart = ({ tool, decision }: SessionPermit, agent: string, isExecution: boolean): Attributes => {
  const attributes: Attributes = { [ATTR.tool]: tool, [ATTR.decision]: decision, [ATTR.agent]: agent };
  if (isExecution) attributes[ATTR.operation] = OPERATION.call;
  return attributes;
};

/** The session of a decision, as its span shows it. */
interface DescribedSession {
  readonly id: string;
  readonly step: number;
  readonly ended: boolean;
}

/**
 * Describes a decision on its span, and links the span to the failures behind it. Only if the span is recorded, and one
 * attribute after the other, because this is the cheapest way for the SDK.
 */
export const describeSpan = (
  span: Span,
  permit: SessionPermit,
  session: DescribedSession,
  options: AcquireOptions | undefined,
  causes: readonly (SpanContext | undefined)[],
): void => {
  try {
    if (!span.isRecording()) return;
    span.setAttribute(ATTR.conversation, session.id);
    span.setAttribute(ATTR.reason, permit.reason);
    span.setAttribute(ATTR.budgetRemaining, permit.budgetRemaining);
    span.setAttribute(ATTR.caution, permit.caution);
    span.setAttribute(ATTR.step, session.step);
    if (permit.group !== undefined) span.setAttribute(ATTR.group, permit.group);
    if (session.ended) span.setAttribute(ATTR.sessionEnded, true);
    if (permit.route !== undefined) describeRoute(span, permit.route);
    if (options !== undefined) describeCall(span, options);
    const { mode, circuit } = decidedBy(permit) ?? permit;
    if (circuit !== undefined) {
      span.setAttribute(ATTR.state, reportedState(mode, circuit));
      span.setAttribute(ATTR.generation, circuit.generation);
    }
    for (const context of causes) if (context !== undefined) span.addLink({ context });
    const event = permit.reason === 'systemic' ? permit.rejection?.event : undefined;
    if (event !== undefined) span.setAttribute(ATTR.suspect, suspectOf(event));
    if (!permit.executes) span.setStatus({ code: SpanStatusCode.ERROR, message: rejectionOf(permit) });
  } catch (error) {
    reportThrown('the span', error);
  }
};

/** The circuit of the group or of the key that rejects or probes; undefined if neither does. */
const decidedBy = (permit: SessionPermit): { readonly mode: CircuitMode; readonly circuit: Circuit } | undefined => {
  const { reason, rejection, entry, mode, passes } = permit;
  const of = PROBES[reason] ?? SKIPS[reason]?.waitsFor;
  if (of === 'group') return entry.group;
  if (rejection?.key !== undefined) return { mode, circuit: rejection.key.circuit };
  const probed = of === 'key' ? keyPassOf(passes)?.key : undefined;
  return probed === undefined || entry.tracked === undefined
    ? undefined
    : { mode, circuit: keyCircuit(entry.tracked, probed) };
};

/** Why a call was not run, for the reader of a trace. What the model reads is another text (R3). */
const WHY: Readonly<Record<SkipReason | PauseReason, string>> = {
  open: 'its circuit is open',
  group_open: 'the circuit of its group is open',
  key_open: 'the circuit of its key is open',
  probe_in_flight: 'its circuit is half-open, and another call is the probe',
  forced_open: 'it is switched off',
  not_allowed: 'this run is not allowed to use it',
  unavailable: 'its pre-call check says that it cannot be used',
  busy: 'as many calls as it may have are under way',
  limit_reserved: 'what is left of a limit of the run is reserved for sub-agents',
  repeat: 'the same call has failed in the same way too often',
  budget_exhausted: 'the session has used up its failure budget',
  systemic: 'several tools failed from one cause',
  limit_reached: 'a limit of the run is reached',
};

const causeOf = ({ category, ...event }: SystemicEvent): string =>
  ` (${category === undefined ? '' : `${category}; `}suspected: ${suspectOf(event)})`;

/** The form that MCP proposes for a tool that cannot be called. */
const rejectionOf = ({ tool, reason, rejection }: SessionPermit): string => {
  const cause = reason === 'systemic' && rejection?.event !== undefined ? causeOf(rejection.event) : '';
  return `Tool unavailable: ${tool}. Reason: ${WHY[reason as SkipReason | PauseReason]}${cause}.`;
};

const describeRoute = (span: Span, route: Route): void => {
  span.setAttribute(ATTR.route, route.kind);
  if (route.kind !== 'alternative') return;
  span.setAttribute(ATTR.routeTool, route.tool);
  span.setAttribute(ATTR.degradation, route.degradation);
};

/** The id comes from the model's provider, and untyped callers may pass anything. */
const describeCall = (span: Span, options: AcquireOptions): void => {
  const callId = read(options, 'callId');
  if (typeof callId === 'string') span.setAttribute(ATTR.callId, shortened(callId));
  const type = TOOL_TYPES.find((one) => one === read(options, 'type'));
  if (type !== undefined) span.setAttribute(ATTR.toolType, type);
  const more = read(options, 'attributes');
  if (isObject(more)) span.setAttributes(more as Attributes);
};

/** Whether the framework has already created the span of the execution, and ours is its child. */
const insideExecuteTool = (tool: string, parent: Context): boolean => {
  // The API can't read a span, but the SDK's spans show their attributes. Our spans carry a decision; a framework's don't.
  const { attributes } = (trace.getSpan(parent) ?? {}) as { attributes?: Attributes };
  return (
    attributes?.[ATTR.operation] === OPERATION.call &&
    attributes[ATTR.tool] === tool &&
    attributes[ATTR.decision] === undefined
  );
};

/** Ends a span; a call's failure makes it an error. */
export const endSpan = (span: Span, judged?: Judged): void => {
  try {
    if (judged !== undefined && span.isRecording()) describeEnd(span, judged);
    span.end();
  } catch (error) {
    reportThrown('the span', error);
  }
};

const describeEnd = (span: Span, { outcome, category, blames, retryAfterMs, tokens }: Judged): void => {
  span.setAttribute(ATTR.outcome, outcome);
  if (category !== undefined) span.setAttribute(ATTR.errorType, category);
  if (blames !== undefined) span.setAttribute(ATTR.blames, blames);
  if (retryAfterMs !== undefined) span.setAttribute(ATTR.retryAfter, retryAfterMs / 1000);
  if (tokens !== undefined) span.setAttribute(ATTR.tokens, tokens);
  if (outcome === 'failure')
    span.setStatus({ code: SpanStatusCode.ERROR, message: `The call failed (${category ?? 'unknown'}).` });
};

/** What to link to. */
export const spanContextOf = (span: Span): SpanContext | undefined => safely('the span', () => span.spanContext());
