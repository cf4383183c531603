import { createBreakerbox } from '@breakerbox/core';
import { operate } from '@breakerbox/core/control';
import { createFleet } from '@breakerbox/fleet';
import { guardModels, ModelsUnavailableError } from '@breakerbox/instrumentation/ai-sdk';
import { generateText } from 'ai';
import { createClient } from 'redis';
import { modelOf } from './providers.ts';

/** One agent whose models are shared, in a process of its own. shared-models.test.ts starts it and sends it messages. */
const [redis = '', primary = '', fallback = ''] = process.argv.slice(2);

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
const settings = { share: 'fleet', cooldownMs: 2_000 } as const;
const fleet = createFleet({ client: createClient({ url: redis }), quorum: 1 });
const box = createBreakerbox({
  agent: 'sharing',
  fleet, // In scope `session`: the circuits of models are the box's in any scope.
  models: { 'anthropic/primary': settings, 'anthropic/fallback': settings },
});
const models = [
  modelOf('messages', { url: primary }),
  { model: modelOf('messages', { url: fallback }, 'fallback'), key: 'second' },
];
const model = guardModels(box, { models });

/** Who answered, or that none did. */
const ask = async (): Promise<string> => {
  try {
    const { providerMetadata } = await generateText({ model, prompt: 'Hi', maxRetries: 0 });
    return `${providerMetadata?.breakerbox?.model}`;
  } catch (error) {
    if (error instanceof ModelsUnavailableError) return error.message;
    throw error;
  }
};

process.on('message', async (message) => {
  if (message === 'ask') process.send?.(await ask());
  if (message === 'force') {
    operate(box).force('model:anthropic/fallback', { mode: 'forced_open', owner: 'ada', reason: 'costs' });
    process.send?.('done');
  }
  if (message === 'status') process.send?.(JSON.stringify(fleet.status()));
  if (message === 'stop') {
    await fleet.close();
    process.exit(0);
  }
});
process.send?.('ready');
