import Anthropic from '@anthropic-ai/sdk';
import { createBreakerbox } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/anthropic';

export const session = createBreakerbox({ agent: 'snippets' }).session();
export const client = new Anthropic({ apiKey: 'none', fetch: scriptedModel(['Nothing to do.']).fetch });
export const model = 'claude-sonnet-5';
export const max_tokens = 100;
export const messages = [{ role: 'user' as const, content: 'Read.' }];
export const tools: [] = [];
