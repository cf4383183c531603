import { readAncestry } from './untrusted.ts';

/** The base classes of the SDKs of model providers, which others (OpenRouter, DeepSeek) are called by too; AI SDK. */
const BASES: ReadonlySet<string> = new Set(
  `OpenAIError AnthropicError GroqError TogetherError CerebrasError MistralError CohereError GoogleGenerativeAIError
    AI_APICallError`.split(/\s+/),
);

/**
 * Whether an error is a model provider's own. Its 402, and its talk of credit, are about the account that calls it. Of
 * any other client they may as well be about the customer that a tool was asked to charge.
 */
export function isModelProvider(error: unknown): boolean {
  return readAncestry(error).some((name) => BASES.has(name));
}
