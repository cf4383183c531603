import { client, max_tokens, messages, model, tools } from './anthropic.ts';

export { session } from './anthropic.ts';
export const runner = client.beta.messages.toolRunner({ model, max_tokens, messages, tools });
