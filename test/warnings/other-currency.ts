import { createBreakerbox } from '@breakerbox/core';
import { guardModels } from '@breakerbox/instrumentation/ai-sdk';
import { generateText } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';

const price = { input: 1.25, output: 10 };
const box = createBreakerbox({
  agent: 'research-agent',
  models: {
    'openai/gpt-5': { price: { ...price, currency: 'EUR' } },
    'openai/gpt-5-mini': { price: { ...price, currency: 'usd' } },
  },
});
const session = box.session({ limits: { cost: { amount: 5, currency: 'USD' } } });
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
for (const modelId of ['gpt-5', 'gpt-5', 'gpt-5-mini']) {
  const doGenerate = async () => ({
    content: [{ type: 'text', text: 'Hello' }],
    finishReason: { unified: 'stop' },
    usage,
    warnings: [],
  });
  const model = new MockLanguageModelV4({ provider: 'openai', modelId, doGenerate: doGenerate as never });
  await generateText({ model: guardModels(box, { models: [model], session }), prompt: 'How are you?' });
}
session.end();
