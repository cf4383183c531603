import { createBreakerbox } from '@breakerbox/core';
import { scriptedModel } from '@breakerbox/scripted-models/google-adk';
import { LlmAgent, LogLevel, setLogLevel } from '@google/adk';

export { InMemoryRunner } from '@google/adk';

setLogLevel(LogLevel.WARN);
export const session = createBreakerbox({ agent: 'snippets' }).session();
export const agent = new LlmAgent({ name: 'reader', model: scriptedModel(['Nothing to do.']).model });
