import { createBreakerbox } from '@breakerbox/core';
import { guardModels } from '@breakerbox/instrumentation/langchain';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { ChatOpenAI } from '@langchain/openai';

const box = createBreakerbox({ agent: 'research-agent' });
const answers = { responses: ['Hello'] };
const retries = new FakeListChatModel(answers);
const fix = Object.assign(new FakeListChatModel(answers), { caller: { maxRetries: 0 } });
const openai = new ChatOpenAI({ model: 'gpt-5', apiKey: 'none' }); // Takes the number of retries from the call.
for (let time = 0; time < 2; time += 1) {
  guardModels(box, { models: [openai, { model: retries, name: 'groq/llama' }, { model: fix, name: 'groq/qwen' }] });
}
