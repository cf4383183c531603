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
  /** Without a whole answer: the caller left, all failed, or `candidate` failed after the first part that a user saw. */
  ended(failure: { readonly category: string } | undefined, candidate?: Candidate<unknown>): void;
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
    const isOfFramework = active?.isRecording() === true && isChat(active, primary);
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

/**
 * Whether a framework's span is about this call of a model. SDKs keep name and attributes where they can be read. A name that begins with
 * `chat` alone may be the application's own span.
 */
const isChat = (span: Span, { modelId }: Candidate<unknown>): boolean => {
  const { name = '', attributes = {} } = span as {
    readonly name?: string;
    readonly attributes?: Record<string, unknown>;
  };
  const { [ATTR.operation]: operation, [ATTR.requestModel]: model = modelId } = attributes;
  return (operation === 'chat' && model === modelId) || /^ai\.\w+\.do(?:Generate|Stream)/.test(name);
};

const modelSpan = (span: Span, isOwn: boolean): ModelSpan => {
  const end = once(() => {
    if (isOwn) span.end();
  });
  const name = ({ provider, modelId, index }: Candidate<unknown>): void => {
    if (isOwn) span.updateName(`chat ${modelId}`);
    span.setAttributes({
      [ATTR.provider]: provider,
      [ATTR.requestModel]: modelId,
      [ATTR.position]: index === 0 ? 'primary' : 'fallback',
    });
  };
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
    answered: (candidate, { inputTokens, outputTokens, responseModel }) =>
      quietly(() => {
        name(candidate);
        span.setAttributes({
          [ATTR.responseModel]: responseModel ?? candidate.modelId,
          ...(isOwn && inputTokens !== undefined && { [ATTR.inputTokens]: inputTokens }),
          ...(isOwn && outputTokens !== undefined && { [ATTR.outputTokens]: outputTokens }),
        });
        end();
      }),
    ended: (failure, candidate) =>
      quietly(() => {
        if (candidate !== undefined) name(candidate);
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
