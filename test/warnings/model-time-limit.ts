import { createBreakerbox } from '@breakerbox/core';
import { guardModels } from '@breakerbox/instrumentation';

const box = createBreakerbox({ agent: 'research-agent' });
const ask = guardModels(box, {
  models: [
    {
      name: 'openai/gpt-5',
      call: async (_: string) => new Promise<string>((resolve) => setTimeout(resolve, 2_000, '')),
    },
    { name: 'anthropic/claude-opus-5', call: async (prompt: string) => prompt },
  ],
});
for (let call = 0; call < 2; call += 1) {
  await ask('How are you?', { signal: AbortSignal.timeout(50) }).catch(() => {});
}
// A person who leaves is no time limit.
await ask('How are you?', { signal: AbortSignal.abort() }).catch(() => {});
process.exit();
