import { ATTR, SCOPE_NAME } from '@breakerbox/core';
import { safely } from '@breakerbox/core/internal';
import { context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { activeSession } from '../active-session.ts';
import type { AnswerFacts, Candidate, ModelList, TriedModel } from './candidates.ts';

/** Tells a trace who answered (L7). It never has prompts, answers or headers (L8). */
export interface ModelSpan {
  /** Runs the call of a model beneath the span. */
  within<Value>(run: () => Value): Value;
  tried(tried: TriedModel): void;
  answered(candidate: Candidate<unknown>, facts: AnswerFacts): void;
  /** Without an answer: the caller left, or all failed. */
  ended(failure: { readonly category: string } | undefined): void;
}

/** Where no trace is recorded. */
const NO_SPAN: ModelSpan = { within: (run) => run(), tried: () => {}, answered: () => {}, ended: () => {} };

/**
 * The span of one request. Where the framework has a span for the call of a model, that one is corrected: it names the first model of the
 * list, and another one may answer. Otherwise there is a span `chat MODEL` of our own.
 */
export const beginModelSpan = ({ agent, candidates, options }: ModelList<unknown>): ModelSpan =>
  safely('the span of a model', () => {
    const [primary] = candidates as readonly [Candidate<unknown>];
    const active = trace.getActiveSpan();
    const isOfFramework = active?.isRecording() === true && isChat(active);
    const span = isOfFramework ? active : startSpan(agent, primary);
    if (!span.isRecording()) return NO_SPAN;
    const conversation = (options.session ?? activeSession())?.id;
    if (conversation !== undefined && !isOfFramework) span.setAttribute(ATTR.conversation, conversation);
    return modelSpan(span, !isOfFramework);
  }) ?? NO_SPAN;

const startSpan = (agent: string, { modelId, provider }: Candidate<unknown>): Span =>
  trace.getTracer(SCOPE_NAME).startSpan(`chat ${modelId}`, {
    kind: SpanKind.CLIENT,
    attributes: {
      [ATTR.operation]: 'chat',
      [ATTR.agent]: agent,
      [ATTR.provider]: provider,
      [ATTR.requestModel]: modelId,
    },
  });

/** Whether a framework's span is about one call of a model. SDKs keep name and attributes where they can be read. */
const isChat = (span: Span): boolean => {
  const { name = '', attributes = {} } = span as {
    readonly name?: string;
    readonly attributes?: Record<string, unknown>;
  };
  const operation = attributes[ATTR.operation];
  return operation === 'chat' || /^chat |^ai\.\w+\.do(?:Generate|Stream)/.test(name);
};

const modelSpan = (span: Span, isOwn: boolean): ModelSpan => {
  const end = once(() => {
    if (isOwn) span.end();
  });
  const quietly = (run: () => void): void => void safely('the span of a model', run);
  return {
    within: (run) => (isOwn ? context.with(trace.setSpan(context.active(), span), run) : run()),
    tried: ({ model, why, category, status }) =>
      quietly(() =>
        span.addEvent('breakerbox.model.tried', {
          [ATTR.tool]: model,
          [ATTR.result]: why,
          ...(category !== undefined && { [ATTR.errorType]: category }),
          ...(status !== undefined && { [ATTR.httpStatus]: status }),
        }),
      ),
    answered: ({ provider, modelId, index }, { inputTokens, outputTokens, responseModel }) =>
      quietly(() => {
        if (isOwn) span.updateName(`chat ${modelId}`);
        span.setAttributes({
          [ATTR.provider]: provider,
          [ATTR.requestModel]: modelId,
          [ATTR.responseModel]: responseModel ?? modelId,
          [ATTR.position]: index === 0 ? 'primary' : 'fallback',
          ...(isOwn && inputTokens !== undefined && { [ATTR.inputTokens]: inputTokens }),
          ...(isOwn && outputTokens !== undefined && { [ATTR.outputTokens]: outputTokens }),
        });
        end();
      }),
    ended: (failure) =>
      quietly(() => {
        if (isOwn && failure !== undefined) {
          span.setAttribute(ATTR.errorType, failure.category);
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        end();
      }),
  };
};

const once = (run: () => void): (() => void) => {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
};
