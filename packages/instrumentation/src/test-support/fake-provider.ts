import { scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { MockProviderV4 } from 'ai/test';

/** To be preloaded: a model name such as `openai/gpt-5-mini` gets a script in place of the provider's model. */
const calls = ['', 'a', 'b', 'c'].map((page) => [{ tool: 'fetchPage', input: { url: `http://127.0.0.1:2/${page}` } }]);
const { model, heard } = scriptedModel([...calls, 'I could not read the page.']);

// The mock's type doesn't fit the SDK's own under exactOptionalPropertyTypes.
type Provider = NonNullable<typeof globalThis.AI_SDK_DEFAULT_PROVIDER>;
globalThis.AI_SDK_DEFAULT_PROVIDER = new MockProviderV4({
  languageModels: { 'openai/gpt-5-mini': model },
}) as unknown as Provider;
process.on('exit', () => process.stdout.write(`The model heard: ${JSON.stringify(heard())}\n`));
