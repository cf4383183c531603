import { read } from '@breakerbox/core/internal';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { withAnswerer } from '../ai-sdk/model-parts.ts';
import { sourceOf } from '../models/guard-models.ts';
import { JudgedError, type ModelAttempt } from '../models/model-attempt.ts';
import { askWithHistory } from '../models/model-history.ts';
import { openStream } from '../models/model-stream.ts';
import { CUT } from '../models/model-verdict.ts';
import { ModelStreamError } from '../models/models-unavailable.ts';
import { CHAT } from './chat-history.ts';
import type { Ask, CallOptions, ChatModel, ChatRunnable } from './chat-model.ts';
import {
  type ChatMessage,
  chunkOf,
  END_MESSAGE,
  isFinished,
  messageFacts,
  messageFormat,
  mustFinish,
  withEnd,
} from './chat-parts.ts';

/** What a guarded model is made of. */
interface Guarded {
  readonly models: readonly ChatModel[];
  readonly ask: Ask;
  readonly prepare?: (model: ChatModel) => ChatRunnable;
  readonly tools?: readonly unknown[];
  /** It gives `{ raw, parsed }`, and no stream. */
  readonly isStructured?: boolean;
}

interface RunManager {
  handleLLMNewToken(
    text: string,
    at: typeof AT,
    run: undefined,
    parent: undefined,
    tags: undefined,
    fields: never,
  ): Promise<unknown>;
}

type BaseClass = new (fields: object) => BaseChatModel;

/** The class `BaseChatModel` of the copy of LangChain that a model is from. */
export const baseClassOf = (model: unknown): BaseClass | undefined => {
  let one = model as object | null;
  while (one !== null && one !== undefined) {
    if (Object.hasOwn(one, '_generateUncached')) return one.constructor as BaseClass;
    one = Object.getPrototypeOf(one) as object | null;
  }
  return undefined;
};

/** What models with a schema have made of their messages. */
const parsedOf = new WeakMap<object, unknown>();

/** A class of chat models that asks a list, made from LangChain's own, so that callbacks, caches and tracing work as with any. */
export const guardedClass = (model: ChatModel): (new (guarded: Guarded) => BaseChatModel) => {
  class GuardedChatModel extends (baseClassOf(model) as BaseClass) {
    readonly #guarded: Guarded;

    constructor(guarded: Guarded) {
      super({});
      this.#guarded = guarded;
      this.disableStreaming = guarded.isStructured === true;
    }

    static lc_name(): string {
      return 'GuardedChatModel';
    }

    _llmType(): string {
      return 'breakerbox';
    }

    override getLsParams(options: never) {
      return { ...this.#guarded.models[0]?.getLsParams(options), ls_model_type: 'chat' as const };
    }

    /** What all models can do. */
    override get profile(): Record<string, never> {
      return this.#guarded.models.map((one) => read(one, 'profile') ?? {}).reduce(common) as Record<string, never>;
    }

    override bindTools(tools: readonly unknown[], options?: object): never {
      const { prepare = plain } = this.#guarded;
      const bind = (one: ChatModel) => (prepare(one) as unknown as Bindable).bindTools(tools, options) as ChatRunnable;
      return new GuardedChatModel({ ...this.#guarded, prepare: bind, tools }) as never;
    }

    override withStructuredOutput(schema: never, options: { readonly includeRaw?: boolean } = {}): never {
      const { prepare = plain } = this.#guarded;
      const structured = (one: ChatModel) =>
        (prepare(one) as unknown as Bindable).withStructuredOutput(schema, { ...options, includeRaw: true });
      const asked = new GuardedChatModel({ ...this.#guarded, prepare: structured, isStructured: true });
      return asked.pipe((raw: object) => {
        const parsed = parsedOf.get(raw);
        if (options.includeRaw === true) return { raw, parsed };
        if (parsed === undefined || parsed === null)
          throw new Error('The answer of the model does not fit the schema.');
        return parsed;
      }) as never;
    }

    get #isAlone(): boolean {
      return this.#guarded.models.length === 1;
    }

    async _generate(messages: unknown, options: CallOptions): Promise<never> {
      const { ask, tools = [], prepare = plain } = this.#guarded;
      const message = await ask(options, tools, prepare, (one, own, attempt) =>
        askWithHistory(messages, CHAT, this.#isAlone, async (history) => {
          const answer = await attempt.wait(one.invoke(history, own), attempt.limits.attemptMs);
          return wholeOf(answer, this.#guarded, attempt);
        }),
      );
      return { generations: [{ text: textOf(message), message }], llmOutput: {} } as never;
    }

    override async *_streamResponseChunks(
      messages: unknown,
      options: CallOptions,
      runManager?: RunManager,
    ): AsyncGenerator<never> {
      const { ask, tools = [], prepare = plain } = this.#guarded;
      let answerer: ModelAttempt | undefined;
      const opened = await ask(options, tools, prepare, (one, own, attempt) => {
        answerer = attempt;
        const { firstByteMs, firstChunkMs = firstByteMs } = attempt.limits;
        return askWithHistory(messages, CHAT, this.#isAlone, async (history) => {
          const stream = await attempt.wait(one.stream(history, own), Math.min(firstByteMs, firstChunkMs));
          const parts = withEnd(stream as AsyncIterable<ChatMessage>, modelOf(this.#guarded, attempt));
          return openStream(sourceOf(parts), messageFormat(), attempt, attempt.ranMs);
        });
      });
      try {
        for (let next = await opened.next(); next.done !== true; next = await opened.next()) {
          const { value: message } = next;
          if (message === END_MESSAGE) continue;
          // Once: LangChain adds up what the pieces say.
          if (answerer !== undefined)
            message.response_metadata = { ...withAnswerer(message.response_metadata, answerer) };
          answerer = undefined;
          const chunk = chunkOf(message, textOf(message));
          yield chunk as never;
          await runManager?.handleLLMNewToken(chunk.text, AT, undefined, undefined, undefined, { chunk } as never);
        }
      } finally {
        opened.cancel();
      }
    }
  }
  return GuardedChatModel as never;
};

interface Bindable {
  bindTools(tools: unknown, options: unknown): unknown;
  withStructuredOutput(schema: unknown, options: object): ChatRunnable;
}

const AT = { prompt: 0, completion: 0 };

const plain = (model: ChatModel): ChatRunnable => model as unknown as ChatRunnable;

const textOf = (message: unknown): string => {
  const text = read(message, 'text');
  return typeof text === 'string' ? text : '';
};

const modelOf = ({ models }: Guarded, { candidate }: ModelAttempt): ChatModel => models[candidate.index] as ChatModel;

const wholeOf = (answer: unknown, guarded: Guarded, attempt: ModelAttempt): ChatMessage => {
  const message = (guarded.isStructured ? read(answer, 'raw') : answer) as ChatMessage;
  const model = modelOf(guarded, attempt);
  if (!isFinished(message, model) && mustFinish(model)) {
    throw new JudgedError(
      new ModelStreamError(attempt.candidate.model, 'stopped before its answer was complete.'),
      CUT,
    );
  }
  if (guarded.isStructured) parsedOf.set(message, read(answer, 'parsed'));
  attempt.succeeded(messageFacts(message));
  message.response_metadata = { ...withAnswerer(message.response_metadata, attempt) };
  return message;
};

/** Numbers are limits, and the rest are abilities. */
const common = (one: object, other: object): object =>
  Object.fromEntries(
    Object.entries(one).flatMap(([key, value]) => {
      const also = read(other, key);
      if (typeof value === 'number' && typeof also === 'number') return [[key, Math.min(value, also)]];
      return value === also ? [[key, value]] : [];
    }),
  );
