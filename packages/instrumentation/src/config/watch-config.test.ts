import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Breakerbox, type BreakerboxConfig, createBreakerbox } from '@breakerbox/core';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { guardModels } from '../models/guard-models.ts';
import { inMode, loadConfig, type WatchOptions, watchConfig } from './config.ts';

let path: string;
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'breakerbox-watch-'));
  path = join(folder, 'breakerbox.yaml');
  onTestFinished(() => rm(folder, { recursive: true }));
});
afterEach(() => vi.restoreAllMocks());

const write = (text: string): Promise<void> => writeFile(path, text);
/** As editors and configuration maps do it. */
const replace = async (text: string): Promise<void> => {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
};

const watched = (own: Partial<BreakerboxConfig> = {}, options: WatchOptions = {}) => {
  const box = createBreakerbox({ agent: 'a', ...loadConfig(path), ...own });
  const watch = watchConfig(box, path, { intervalMs: 0, onReload: () => {}, ...options });
  onTestFinished(() => watch.stop());
  return { box, watch, session: box.session() };
};

/** Calls until the tool opens, in a session of its own; undefined if it does not. */
const threshold = (box: Breakerbox, tool = 'web_search'): number | undefined => {
  const session = box.session({ budget: { failures: 100 } });
  for (let calls = 0; calls < 20; calls += 1) {
    const permit = session.acquire(tool);
    if (permit.decision !== 'call') return calls;
    permit.settle({ outcome: 'failure', category: 'network' });
  }
  return undefined;
};

test('M8, A10, L2: models of the file have its settings, also after a change, and a fault names its line', async () => {
  await write('models:\n  openai/gpt-5: { failureThreshold: 3, cooldownMs: 5000 }\n');
  const { box, watch } = watched();
  let calls = 0;
  const models = ['openai/gpt-5', 'anthropic/claude'].map((name, index) => ({
    name,
    call: async () => {
      if (index > 0) return name;
      calls += 1;
      throw Object.assign(new Error('no'), { status: 503 });
    },
  }));
  const ask = guardModels(box, { models });
  for (let i = 0; i < 6; i += 1) expect(await ask('q')).toBe('anthropic/claude');
  expect(calls).toBe(3); // Without the file, 2.
  await write('models:\n  openai/gpt-5: { mode: disabled }\n');
  expect(watch.reload()).toBeUndefined();
  await ask('q');
  expect(calls).toBe(4);
  await write('models:\n  openai/gpt-5: { cooldownMs: -1 }\n');
  expect(String(watch.reload())).toMatch(/line 2, models\.openai\/gpt-5\.cooldownMs/);
});

describe('M8, A10: a box follows its file', () => {
  test('M8, A10: a circuit that is open stays open, and the fallback is the new one', async () => {
    await write('tools: { web_search: { failureThreshold: 1, fallback: ask the user } }');
    const { watch, session, box } = watched();
    session.acquire('web_search').settle({ outcome: 'failure', category: 'network' });
    await write('tools: { web_search: { failureThreshold: 2, fallback: use the archive } }');
    expect(watch.reload()).toBeUndefined();
    const permit = session.acquire('web_search');
    expect(permit).toMatchObject({ decision: 'skip', reason: 'open' });
    expect(permit.message).toContain('use the archive');
    expect(threshold(box)).toBe(2);
  });

  test('M8: settings of the program stay, and those that the file no longer has are gone', async () => {
    const classify = () => 'network' as const;
    await write(
      'defaults: { failureThreshold: 2 }\ntools: { web_search: { cooldownMs: 1000 }, gone: { failureThreshold: 9 } }',
    );
    const { tools, defaults } = loadConfig(path);
    const own = { defaults: { ...defaults, outcomes: { unknown: 'failure' } } } as const;
    const { box, watch } = watched({
      ...own,
      tools: {
        ...tools,
        web_search: { ...tools?.web_search, failureThreshold: 3, classify },
        code: { failureThreshold: 7 },
      },
    });
    await write('defaults: { failureThreshold: 4 }\ntools: { web_search: { failureThreshold: 5 } }');
    expect(watch.reload()).toBeUndefined();
    expect(['web_search', 'code', 'gone', 'new'].map((tool) => threshold(box, tool))).toEqual([3, 7, 4, undefined]);
    await write('budget: { failures: 2 }');
    expect(watch.reload()).toBeUndefined();
    expect(['web_search', 'code', 'gone'].map((tool) => threshold(box, tool))).toEqual([3, 7, 3]);
    expect(box.session().view().budget.remaining).toBe(2);
  });

  test('M8: settings that the program makes of the file', async () => {
    await write('tools: { web_search: { mode: forced_open } }');
    const adjust: WatchOptions['adjust'] = (settings) => inMode(settings, 'observe_only');
    const { watch, session } = watched(inMode(loadConfig(path), 'observe_only'), { adjust });
    await write('tools: { web_search: { mode: forced_open }, other: { mode: forced_open } }');
    expect(watch.reload()).toBeUndefined();
    expect(['web_search', 'other'].map((tool) => session.acquire(tool).state)).toEqual([
      'observe_only',
      'observe_only',
    ]);
  });

  test.each([
    ['a broken file', 'tools: [', /line 1, column \d+: is not valid YAML/],
    ['a fault', 'defaults:\n  failureThreshold: 0\n', /line 2, defaults\.failureThreshold: is 0\. Set/],
    [
      'what cannot change',
      'defaults: { failureThreshold: 1 }\nscope: none',
      /scope: has changed, but cannot change while/,
    ],
    ['what the program cannot change', 'budget: strict', /budget: has changed, but cannot change/],
  ])('M8: after %s all settings stay', async (_, text, why) => {
    await write('defaults: { failureThreshold: 2 }');
    const { box, watch } = watched({}, { fixed: ['budget'] });
    await write(text);
    expect(watch.reload()?.message).toMatch(why);
    expect(threshold(box)).toBeUndefined();
    box.declare('web_search');
    expect(threshold(box)).toBe(2);
    await write('defaults: { failureThreshold: 3 }');
    expect(watch.reload()).toBeUndefined();
    expect(threshold(box)).toBe(3);
  });

  test('M8: without a listener, an error is one line of a warning', async () => {
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    await write('defaults: {}');
    const { watch } = watched({}, { onReload: undefined });
    watch.reload();
    await write('a: 1\n"b\\e[31m": 2\n');
    watch.reload();
    expect(warnings.mock.calls).toEqual([
      [
        expect.stringMatching(/^The settings stay as they were\. Breakerbox can't .+: line 1, a: is not .+\\x1b.+$/),
        { type: 'BreakerboxWarning', code: 'BREAKERBOX_CONFIG_RELOAD' },
      ],
    ]);
  });

  test('M8: a change between loadConfig and watchConfig is found', async () => {
    await write('tools: { web_search: { failureThreshold: 1 } }');
    const box = createBreakerbox({ agent: 'a', ...loadConfig(path) });
    await write('tools: { web_search: { failureThreshold: 10 } }');
    const watch = watchConfig(box, path, { intervalMs: 5, onReload: () => {} });
    onTestFinished(() => watch.stop());
    await expect.poll(() => threshold(box)).toBe(10);
  });

  test('M8: a change of the file is found, also if the file is replaced, and a file that is gone changes nothing', async () => {
    await write('tools: { web_search: { failureThreshold: 1 } }');
    const errors: (string | undefined)[] = [];
    const { box, watch } = watched({}, { intervalMs: 5, onReload: (error) => errors.push(error?.message) });
    await write('tools: { web_search: { failureThreshold: 4 } }');
    await expect.poll(() => threshold(box)).toBe(4);
    await replace('tools: { web_search: { failureThreshold: 6 } }');
    await expect.poll(() => threshold(box)).toBe(6);
    await rm(path);
    await expect.poll(() => errors.at(-1)).toContain("doesn't exist (ENOENT)");
    expect(threshold(box)).toBe(6);
    await write('tools: { web_search: { failureThreshold: 5 } }');
    await expect.poll(() => threshold(box)).toBe(5);
    watch.stop();
    const { length } = errors;
    await write('tools: { web_search: { failureThreshold: 2 } }');
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(errors).toHaveLength(length);
  });
});
