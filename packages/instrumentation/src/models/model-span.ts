import { ATTR, SCOPE_NAME, type Session } from '@breakerbox/core';
import { read, safely } from '@breakerbox/core/internal';
import { type Attributes, context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
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
    const conversation = conversationOf(options.session ?? activeSession());
    if (conversation !== undefined && !isOfFramework) span.setAttribute(ATTR.conversation, conversation);
    return modelSpan(span, !isOfFramework, isOfFramework ? nameFrameworks(span, primary) : nameOwn(span));
  }) ?? NO_SPAN;

/** D7: the spans of sub-agents belong to the conversation of their root. */
const conversationOf = (session: Session | undefined): string | undefined => {
  const id = read(read(session, 'root'), 'id');
  return typeof id === 'string' ? id : session?.id;
};

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

const readable = (span: Span) => {
  const { name = '', attributes = {} } = span as Partial<Record<'name', string> & Record<'attributes', Attributes>>;
  return { name, attributes };
};

/**
 * Whether a framework's span is about this call of a model. SDKs keep name and attributes where they can be read. A name that begins with
 * `chat` alone may be the application's own span.
 */
const isChat = (span: Span, { modelId }: Candidate<unknown>): boolean => {
  const { name, attributes } = readable(span);
  const { [ATTR.operation]: operation, [ATTR.requestModel]: model = modelId } = attributes;
  return (operation === 'chat' && model === modelId) || /^ai\.\w+\.do(?:Generate|Stream)/.test(name);
};

/** Says on a span who answered. */
type Naming = (candidate: Candidate<unknown>) => void;

const positionOf = ({ index }: Candidate<unknown>) => ({ [ATTR.position]: index === 0 ? 'primary' : 'fallback' });

const nameOwn =
  (span: Span): Naming =>
  (candidate) => {
    const { provider, modelId } = candidate;
    span.updateName(`chat ${modelId}`);
    span.setAttributes({ [ATTR.provider]: provider, [ATTR.requestModel]: modelId, ...positionOf(candidate) });
  };

/** A framework's span is about the primary, in the framework's own words, which stay where they are right. */
const nameFrameworks = (span: Span, primary: Candidate<unknown>): Naming => {
  const { name, attributes } = readable(span);
  /** The AI SDK 5 and 6 have attributes of their own too. */
  const all = (standard: string, others: readonly string[], value: string) =>
    Object.fromEntries([standard, ...others.filter((key) => attributes[key] !== undefined)].map((key) => [key, value]));
  return (candidate) => {
    span.setAttributes(positionOf(candidate));
    if (candidate === primary) return;
    const { provider, modelId } = candidate;
    if (name === `chat ${primary.modelId}`) span.updateName(`chat ${modelId}`);
    span.setAttributes(all(ATTR.requestModel, ['ai.model.id'], modelId));
    if (provider === primary.provider) return;
    const providers = all(ATTR.provider, ['gen_ai.system', 'ai.model.provider'], provider);
    span.setAttributes(providers);
    beforeEnd(span, () => span.setAttributes(providers));
  };
};

/** `@ai-sdk/otel` says the provider of the model that it has, which is the primary, once more when the call ends. */
const beforeEnd = (span: Span, run: () => void): void => {
  const end = span.end.bind(span);
  span.end = (time) => {
    safely('the span of a model', run);
    end(time);
  };
};

const modelSpan = (span: Span, isOwn: boolean, name: Naming): ModelSpan => {
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
