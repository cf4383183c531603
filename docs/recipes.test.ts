import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { context, metrics, trace } from '@opentelemetry/api';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { fencesOf, ROOT } from './snippets/fences.ts';
import { startReceiver } from './snippets/receiver.ts';

/** Recipes that a platform calls: it is played here. The other recipes run as programs, in snippets.test.ts. */

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(ROOT, 'docs/.snippets-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  for (const one of [trace, metrics, context]) one.disable();
  vi.unstubAllEnvs();
});

/** The module that the recipe below a heading shows. */
const recipe = async (heading: string): Promise<unknown> => {
  const fence = fencesOf('docs/recipes.md').find((one) => one.heading === heading && one.language === 'ts');
  const path = join(folder, `${heading.replaceAll(' ', '-')}.ts`);
  await writeFile(path, fence?.code ?? expect.fail(`There is no recipe for ${heading}.`));
  return import(pathToFileURL(path).href);
};

const DOWN = 'http://127.0.0.1:2/';

test('AWS Lambda: invocations of a warm process share the circuits, and each sends its telemetry', async () => {
  const receiver = await startReceiver();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url);
  const { handler } = (await recipe('AWS Lambda')) as { handler(event: { url: string }): Promise<string> };
  const answers: string[] = [];
  for (let call = 0; call < 4; call += 1) {
    const sent = receiver.paths.length;
    answers.push(await handler({ url: DOWN }).catch((error: Error) => error.message));
    expect(receiver.paths.slice(sent)).toContain('/v1/metrics');
  }
  expect(answers).toEqual([...Array(3).fill('fetch failed'), expect.stringContaining('[breakerbox:not-called]')]);
  await receiver.stop();
});

interface Hooks {
  'tool.execute.before'(call: object, output: { args: unknown }): Promise<void>;
  'tool.execute.after'(call: object, output: { output: string }): Promise<void>;
  event(input: { event: { type: string; properties: object } }): Promise<void>;
}

test('OpenCode: failures come as events, and the fourth call of a dead tool is not made', async () => {
  const { Breakers } = (await recipe('OpenCode')) as { Breakers(): Promise<Hooks> };
  const hooks = await Breakers();
  const update = (part: object) =>
    hooks.event({ event: { type: 'message.part.updated', properties: { part: { sessionID: 'one', ...part } } } });
  const ran: string[] = [];
  /** As OpenCode calls a tool: a hook that throws is the tool's error. */
  const call = async (tool: string, id: number, run: () => string) => {
    const about = { tool, sessionID: 'one', callID: `${tool}-${id}` };
    try {
      await hooks['tool.execute.before'](about, { args: { id } });
      ran.push(tool);
      const output = run();
      await hooks['tool.execute.after'](about, { output });
      await update({ type: 'tool', ...about, state: { status: 'completed', output } });
    } catch (error) {
      const { message } = error as Error;
      await update({ type: 'tool', ...about, state: { status: 'error', error: message } });
      return message;
    } finally {
      await update({ type: 'step-finish' });
    }
    return undefined;
  };
  const dead = () => {
    throw new Error('connect ECONNREFUSED 127.0.0.1:2');
  };
  for (let id = 0; id < 3; id += 1) await call('webfetch', id, dead);
  expect(await call('webfetch', 3, dead)).toContain("Tool 'webfetch' is unavailable");
  expect(await call('read', 4, () => 'the file')).toBeUndefined();
  expect(ran).toEqual(['webfetch', 'webfetch', 'webfetch', 'read']);
  await call('webfetch', 5, dead);
  await call('webfetch', 6, () => 'the page');
  expect(ran).toHaveLength(5); // Three steps after the opening, one call is the probe.
  await call('webfetch', 7, dead);
  await hooks.event({ event: { type: 'session.deleted', properties: { info: { id: 'one' } } } });
  for (let id = 8; id < 11; id += 1) expect(await call('webfetch', id, dead)).toContain('ECONNREFUSED');
});
