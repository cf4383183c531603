import type { Breakerbox } from '@breakerbox/core';
import { type AiModel, aiModelOf, type GuardAiModelsOptions } from '../ai-sdk/guard-ai-models.ts';

/**
 * A model of Mastra that is several: each has a circuit in the box, and if one is unavailable, the next one answers (L1, L5). Give it to an
 * `Agent` as `model`. The models are those of the AI SDK's provider packages, or `ModelRouterLanguageModel` of `@mastra/core/llm` for
 * the names of Mastra's model router.
 *
 * Another model answers only before the first visible part of a stream. If no model is left, calls fail with a `ModelsUnavailableError`,
 * which Mastra does not retry; a fallback of Mastra's own model list behind it is asked.
 *
 * @throws BreakerboxConfigError for options that can't work, such as models of different specification versions.
 * @throws BreakerboxUsageError if `box` is not a box, or if Mastra is too old.
 *
 * @example
 * ```ts
 * const model = guardModels(box, { models: [anthropic('claude-opus-5'), openai('gpt-5')] });
 * const agent = new Agent({ id: 'research', name: 'Research', instructions, model });
 * ```
 */
export const guardMastraModels = <Model extends AiModel>(
  box: Breakerbox,
  options: GuardAiModelsOptions<Model>,
): Model => aiModelOf(box, options, '@mastra/core', 'mastra');
