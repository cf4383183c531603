/** A program that knows nothing of Breakerbox; says what its model heard. */
import { scriptedModel } from '@breakerbox/scripted-models/ai-sdk';
import { generateText, isStepCount, tool } from 'ai';
import { z } from 'zod';

const asking = ['a', 'b', 'c', 'd'].map((q) => [{ tool: 'web_search', input: { q } }]);
const { model, heard } = scriptedModel([...asking, 'Done.']);
const web_search = tool({
  inputSchema: z.object({ q: z.string() }),
  execute: async ({ q }) => (await fetch(`http://127.0.0.1:2/?q=${q}`)).text(),
});
await generateText({ model, tools: { web_search }, stopWhen: isStepCount(20), prompt: 'go' });
process.stdout.write(JSON.stringify(heard()));
