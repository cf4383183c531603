import { startMessagesApi } from '@breakerbox/scripted-models/anthropic';
import { startGeminiApi } from '@breakerbox/scripted-models/gemini-api';
import type { ScriptedApi } from '@breakerbox/scripted-models/loopback';
import { startOpenAiApi } from '@breakerbox/scripted-models/openai-api';
import type { ScriptedStep } from '@breakerbox/scripted-models/script';

/** The provider's API in a program of docs/frameworks.md, and how its own client learns where that is. */
export interface Provider {
  start(steps: readonly ScriptedStep[]): Promise<ScriptedApi>;
  variables(url: string): Readonly<Record<string, string>>;
}

export const openAi: Provider = {
  start: startOpenAiApi,
  variables: (url) => ({
    OPENAI_BASE_URL: url,
    OPENAI_API_KEY: 'none',
    // Telemetry of the frameworks goes elsewhere.
    OPENAI_AGENTS_DISABLE_TRACING: '1',
    MASTRA_TELEMETRY_DISABLED: '1',
  }),
};

export const anthropic: Provider = {
  start: startMessagesApi,
  variables: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
};

export const gemini: Provider = {
  start: startGeminiApi,
  variables: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'none' }),
};
