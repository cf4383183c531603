import {
  type Attributes,
  type Context,
  context,
  ProxyTracerProvider,
  type Span,
  type SpanContext,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import type { Decision } from '../reasons.ts';
import { safely } from './safely.ts';
import { ATTR, SCOPE_NAME } from './semconv.ts';

const NOOP_PROVIDER = new ProxyTracerProvider().getDelegate();
let bound: { readonly provider: TracerProvider; readonly tracer: Tracer | undefined } | undefined;

/** The tracer of whichever SDK is registered now, or undefined for none: then spans cost a comparison. */
const currentTracer = (): Tracer | undefined => {
  const registered = trace.getTracerProvider();
  const provider = registered instanceof ProxyTracerProvider ? registered.getDelegate() : registered;
  if (provider === NOOP_PROVIDER) return undefined;
  if (bound?.provider !== provider) {
    bound = { provider, tracer: safely('the tracer provider', () => provider.getTracer(SCOPE_NAME)) };
  }
  return bound.tracer;
};

/** What a span says of a decision. */
export interface SpanFacts {
  readonly attributes: Attributes;
  /** The spans whose failures opened the circuits that this decision answers to. */
  readonly causes: readonly SpanContext[];
}

/** Starts the span of a decision; undefined where nobody traces. */
export const startDecisionSpan = (decision: Decision, tool: string): Span | undefined => {
  const tracer = currentTracer();
  return tracer && safely('the tracer', () => tracer.startSpan(spanName(decision, tool)));
};

/** Fills in a span. `facts` is asked only if somebody records it. */
export const describeSpan = (span: Span, decision: Decision, tool: string, facts: () => SpanFacts): void => {
  safely('the span', () => {
    if (!span.isRecording()) return;
    const { attributes, causes } = facts();
    span.setAttributes({
      [ATTR.operation]: 'execute_tool',
      [ATTR.tool]: tool,
      [ATTR.decision]: decision,
      ...attributes,
    });
    for (const cause of causes) span.addLink({ context: cause });
  });
};

/** `execute_tool {tool}`, unless the framework has made that span already and ours goes beneath it. */
const spanName = (decision: Decision, tool: string): string =>
  (decision === 'call' || decision === 'probe') && !insideExecuteTool(tool)
    ? `execute_tool ${tool}`
    : `breakerbox.${decision} ${tool}`;

const insideExecuteTool = (tool: string): boolean => {
  // The API has no way to read a span; the SDK's spans show their attributes. Ours carry a decision, a framework's don't.
  const { attributes } = (trace.getActiveSpan() ?? {}) as { attributes?: Attributes };
  return (
    attributes?.[ATTR.operation] === 'execute_tool' &&
    attributes[ATTR.tool] === tool &&
    attributes[ATTR.decision] === undefined
  );
};

/** Ends a span; a failure's category makes it an error. */
export const endSpan = (span: Span, errorType: string | undefined, isFailure: boolean): void => {
  safely('the span', () => {
    if (errorType !== undefined) span.setAttribute(ATTR.errorType, errorType);
    if (isFailure) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  });
};

/** What to link to. */
export const spanContextOf = (span: Span | undefined): SpanContext | undefined =>
  span && safely('the span', () => span.spanContext());

/** The context that a tool runs in, so that its own spans are children of the decision's. */
export const contextOf = (span: Span): Context => trace.setSpan(context.active(), span);
