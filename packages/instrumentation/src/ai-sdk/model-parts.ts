import { read } from '@breakerbox/core/internal';
import type { AnswerFacts } from '../models/candidates.ts';
import type { ModelAttempt } from '../models/model-attempt.ts';
import { isPing, type PartFormat, type PartMeaning } from '../models/model-stream.ts';

/** The part of the AI SDK's call options that is read or changed. */
export interface AiOptions {
  readonly prompt?: unknown;
  readonly maxOutputTokens?: number | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly providerOptions?: Readonly<Record<string, unknown>> | undefined;
  readonly tools?: readonly { readonly type?: string; readonly id?: string }[] | undefined;
}

/** `stop` in version 5; with the provider's own word from version 6 on. */
type FinishReason = string | { readonly unified: string; readonly raw?: string | undefined };
interface Counts {
  readonly total?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}
type Count = number | Counts | undefined;

interface Usage {
  readonly inputTokens?: Count;
  readonly outputTokens?: Count;
  /** In version 5. */
  readonly cachedInputTokens?: number | undefined;
}

type Metadata = Readonly<Record<string, unknown>> | undefined;

/** The part of a result that is read or changed. */
export interface AiResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly finishReason: FinishReason;
  readonly usage?: Usage | undefined;
  readonly response?: { readonly modelId?: string | undefined } | undefined;
  readonly providerMetadata?: Metadata;
}

/** A part of a stream. */
export interface AiPart {
  readonly type: string;
  readonly delta?: string;
  readonly error?: unknown;
  readonly rawValue?: unknown;
  readonly finishReason?: FinishReason;
  readonly usage?: Usage;
  readonly providerMetadata?: Metadata;
  readonly modelId?: string;
}

/** L4: parts that nothing visible depends on. All others can be seen. */
const HELD: ReadonlySet<string> = new Set([
  'stream-start',
  'response-metadata',
  'raw',
  'custom',
  'text-start',
  'text-end',
  'reasoning-start',
  'reasoning-end',
]);

const DELTAS: ReadonlySet<string> = new Set(['text-delta', 'reasoning-delta']);

/** L3: how an answer ended. */
export const finishOf = (reason: FinishReason, isEmpty: boolean): 'complete' | 'empty' | 'cut' | 'error' => {
  const { unified, raw } = typeof reason === 'string' ? { unified: reason, raw: undefined } : reason;
  if (raw === 'MALFORMED_FUNCTION_CALL') return 'complete';
  if (unified === 'unknown' || unified === 'interrupted') return 'cut';
  if (unified === 'error') return 'error';
  if (unified !== 'other') return 'complete';
  if (raw === undefined) return 'cut';
  return isEmpty ? 'empty' : 'complete';
};

const total = (count: Count): number | undefined => (typeof count === 'object' ? count?.total : count);

/** In version 5, models of Anthropic count the tokens of the cache apart. */
const inputOf = (usage: Usage | undefined, metadata: Metadata) => {
  const { inputTokens: input, cachedInputTokens: cacheReadTokens } = usage ?? {};
  if (typeof input === 'object') {
    return { inputTokens: input.total, cacheReadTokens: input.cacheRead, cacheWriteTokens: input.cacheWrite };
  }
  const written = read(metadata?.anthropic, 'cacheCreationInputTokens');
  const cacheWriteTokens = typeof written === 'number' ? written : undefined;
  const isApart = input !== undefined && metadata?.anthropic !== undefined;
  const inputTokens = isApart ? input + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0) : input;
  return { inputTokens, cacheReadTokens, cacheWriteTokens };
};

/** What an answer says of itself. */
export const factsOf = (
  usage: Usage | undefined,
  responseModel: string | undefined,
  metadata: Metadata,
): AnswerFacts => ({ ...inputOf(usage, metadata), outputTokens: total(usage?.outputTokens), responseModel });

/** L7: who answered, and who was tried before. D3: `spent` if the limits of a run count the answer, so that no adapter counts it again. */
export const withAnswerer = (metadata: Metadata, { candidate, tried, isSpent }: ModelAttempt): Metadata => ({
  ...metadata,
  breakerbox: {
    model: candidate.model,
    position: candidate.index === 0 ? 'primary' : 'fallback',
    ...(isSpent && { spent: true }),
    tried: tried.map(({ model, why, category, status }) => ({
      model,
      why,
      ...(category !== undefined && { category }),
      ...(status !== undefined && { status }),
    })),
  },
});

/** The parts of one stream. */
export const partsOf = (modelId: string): PartFormat<AiPart> => {
  let responseModel: string | undefined;
  return {
    mustFinish: true,
    meaning: (part): PartMeaning => {
      const { type, delta, finishReason = 'unknown', usage } = part;
      if (DELTAS.has(type)) return delta === '' ? 'held' : 'visible';
      if (type === 'error') return { error: part.error };
      if (type === 'response-metadata') responseModel = part.modelId ?? responseModel;
      if (type === 'finish') {
        // After something visible, an end for another reason is an end.
        return {
          facts: factsOf(usage, responseModel ?? modelId, part.providerMetadata),
          end: finishOf(finishReason, true),
        };
      }
      if (isPing(type === 'raw' ? part.rawValue : part)) return 'ping';
      return HELD.has(type) ? 'held' : 'visible';
    },
    finished: (part, attempt) => ({ ...part, providerMetadata: withAnswerer(part.providerMetadata, attempt) }),
    failed: (error) => ({ type: 'error', error }),
  };
};
