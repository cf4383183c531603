import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BreakerboxConfigError, BreakerboxUsageError, createBreakerbox } from '@breakerbox/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inMode, loadConfig, readConfig } from './config.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-config-'));
});
afterAll(() => rm(folder, { recursive: true }));

const file = async (text: string | Uint8Array, name = 'breakerbox.yaml'): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
};

/** What is wrong with a file, as `path: message`. */
const issuesOf = async (text: string, name?: string): Promise<readonly string[]> => {
  const path = await file(text, name);
  try {
    loadConfig(path);
  } catch (error) {
    expect(error).toBeInstanceOf(BreakerboxConfigError);
    expect((error as Error).message).toContain(`configuration file '${path}'`);
    return (error as BreakerboxConfigError).issues.map((issue) => `${issue.path}: ${issue.message}`);
  }
  return [];
};

const WHOLE = `agent: research-agent
scope: process
budget: { failures: 8, windowMs: 300000, windowCalls: 40 }
systemic: { sameCategory: 4, sameCategorySteps: 30, mixedFailures: 9, pause: affected }
loopGuard: { repeats: 4 }
defaults:
  failureThreshold: 4
  cooldownMs: 30000
groups:
  github: { groupThreshold: 3 }
tools:
  web_search:
    profile: fast
    provides: web search
    alternatives:
      - { tool: news_search, degradation: low, note: recent items only }
    fallback: ask the user for a link
    outcomes: { tool_error: failure }
  news_search:
    mode: observe_only
    failureRate: { rate: 0.5, windowCalls: 20 }
    key: false
    group: false
  "a.b['c']": { dependsOn: [proxy] }
`;

describe('M8: a configuration file', () => {
  test.each([
    ['defaults: { probeAfterSteps: [1, 2, 30] }', undefined],
    ['defaults: { probeAfterSteps: [] }', 'defaults.probeAfterSteps'],
    ['defaults: { probeAfterSteps: [3, 0] }', 'defaults.probeAfterSteps[1]'],
    ['tools: { fetch: { keysThreshold: 12 } }', undefined],
    ['tools: { fetch: { keysThreshold: false } }', undefined],
    ['tools: { fetch: { keysThreshold: 101 } }', 'tools.fetch.keysThreshold'],
    ['systemic: { sameCategorySteps: 5, mixedFailures: 3 }', undefined],
    ['systemic: { mixedFailures: 1 }', 'systemic.mixedFailures'],
    ['budget: { windowCalls: 5 }', undefined],
    ['budget: { windowCalls: 0 }', 'budget.windowCalls'],
  ])('P1, C14, S1, B1: %s', async (yaml, fault) => {
    const found = await issuesOf(`agent: a\n${yaml}\n`);
    expect(found.map((issue) => issue.split(': ')[0])).toEqual(fault === undefined ? [] : [`line 2, ${fault}`]);
  });

  test('M8: has all settings that are not functions, in YAML and in JSON', async () => {
    const { agent, settings } = readConfig(await file(WHOLE));
    expect(agent).toBe('research-agent');
    expect(settings).toMatchObject({
      budget: { failures: 8 },
      tools: { web_search: { profile: 'fast' }, news_search: { mode: 'observe_only', key: false } },
    });
    const json = await file(JSON.stringify({ agent, ...settings }, undefined, '\t'), 'breakerbox.json');
    expect(readConfig(pathToFileURL(json))).toEqual({ agent, settings });
    const box = createBreakerbox({ agent: 'mine', ...loadConfig(json) });
    expect(box).toMatchObject({ agent: 'mine', tools: ['web_search', 'news_search', "a.b['c']"] });
  });

  test('M8, E6: each fault has its line, the path of the setting, and what to write', async () => {
    const text = `${WHOLE}  broken:
    failureTreshold: 2
    cooldownMs: -1
    alternatives: [{ tool: nowhere }]
  'dotted.name':
    retries: 1
  empty:
budgets: {}
`;
    const issues = await issuesOf(text);
    expect(issues).toEqual([
      expect.stringMatching(
        /^line 26, tools\.broken\.failureTreshold: is not a setting\. Did you mean 'failureThreshold'\?/,
      ),
      expect.stringMatching(/^line 27, tools\.broken\.cooldownMs: is -1\. Set a finite number above 0/),
      expect.stringMatching(/^line 30, tools\.dotted\.name\.retries: is not a setting\./),
      expect.stringMatching(/^line 31, tools\.empty: is null\. Give an object/),
      expect.stringMatching(/^line 32, budgets: is not a setting\. Did you mean 'budget'\?/),
      expect.stringMatching(
        /^line 28, tools\.broken\.alternatives\[0\]\.tool: is 'nowhere', but no tool has that name/,
      ),
    ]);
  });

  test('M8, E6: a fault names no setting that only code can give', async () => {
    const issues = await issuesOf(
      'clok: 1\ntools:\n  a:\n    clasify: x\n    alternatives: [{ tool: b, adpt: f }]\n  b: {}\n',
    );
    expect(issues).toHaveLength(3);
    for (const issue of issues) {
      expect(issue).toMatch(/is not a setting\. Allowed here: \w+, /);
      expect(issue).not.toMatch(/\b(?:clock|fleet|classify|isFailure|precheck|adapt)\b/);
    }
  });

  test('M8, E6: functions are set in code', async () => {
    const text = `clock: now
tools:
  a: { classify: x, isFailure: y, precheck: z, key: host }
  b:
    alternatives:
      - tool: a
        adapt: f
`;
    const message = expect.stringContaining(
      'is a function, which a file cannot contain. Leave it out here, and set it',
    );
    const issues = await issuesOf(text);
    expect(issues).toEqual(issues.map(() => message));
    expect(issues.map((one) => one.split(': ')[0])).toEqual([
      'line 1, clock',
      'line 3, tools.a.classify',
      'line 3, tools.a.isFailure',
      'line 3, tools.a.precheck',
      'line 3, tools.a.key',
      'line 7, tools.b.alternatives[0].adapt',
    ]);
  });

  test.each([
    ['broken YAML', 'tools: [', undefined, /^line 1, column \d+: is not valid YAML: .+ Correct the text\.$/],
    ['a duplicate key', 'budget: strict\nbudget: strict\n', undefined, /^line 2, column 1: is a duplicate key/],
    [
      'a merge key',
      'tools:\n  a: &a { cooldownMs: 1 }\n  b:\n    <<: *a\n',
      undefined,
      /^line 4, tools\.b\.<<: is a merge key.*defaults/,
    ],
    ['a duplicate key in JSON', '{"scope": "none",\n"scope": "none"}', 'a.json', /^line 2, column 1: is a duplicate/],
    ['broken JSON', '{\n"scope": "none",}', 'b.json', /^line 2, column \d+: is not valid JSON/],
    ['an empty file', '# nothing yet\n', undefined, /^file: is empty\. Write settings such as/],
    ['a list', '- a\n', undefined, /^file: is not an object\. Write settings/],
    ['another extension', 'a: b', 'c.toml', /^file: ends in \.toml, but the extension decides/],
    [
      'a text that is too long',
      `tools: { a: { fallback: ${'x'.repeat(1_001)} } }`,
      undefined,
      /^line 1, tools\.a\.fallback: has 1001/,
    ],
    [
      'a file that is too long',
      `# ${'x'.repeat(128_000)}`,
      undefined,
      /^file: has more than 128 KB.* for a configuration\./,
    ],
    ['aliases in circles', 'tools: &a\n  "": *a\n', undefined, /is not valid YAML/],
    [
      'a setting of an alias',
      'tools:\n  a: &a\n    x: 1\n  b: *a\n',
      undefined,
      /^line 3, tools\.a\.x: is not a setting/,
    ],
    [
      'a scope that does not fit',
      'scope: session\nsystemic:\n  pause: affected\n',
      undefined,
      /^line 3, systemic\.pause: .*needs scope/,
    ],
  ])('M8, E6: %s is explained', async (_, text, name, why) => {
    const [first] = await issuesOf(text, name);
    expect(first).toMatch(why);
  });

  test('M8, E6: files that cannot be read', () => {
    expect(() => loadConfig(join(folder, 'none.yaml'))).toThrow(/none\.yaml': *\n *file: doesn't exist \(ENOENT\)/);
    expect(() => loadConfig('')).toThrow(BreakerboxUsageError);
    expect(() => loadConfig(new URL('https://example.com/a.yaml'))).toThrow(/loadConfig takes the path of a file/);
  });

  test.each([
    [
      'http://127.0.0.1/health',
      /^line 3, .+healthCheck: is of type string\. In a file, give an address such as \{ url:/,
    ],
    ['{ timeoutMs: 9 }', /^line 3, .+healthCheck: has no url\. In a file/],
    ['{ url: gateway/health }', /^line 3, .+healthCheck\.url: is not a web address\. Write it in full/],
    ['{ url: "https://me:secret@a.example" }', /^line 3, .+healthCheck\.url: has a user name or a password\. Leave/],
    ['{ url: "http://a.example", timeoutMs: 0 }', /^line 3, .+healthCheck\.timeoutMs: is 0\. Set a number of milli/],
    ['{ url: "http://a.example", every: 1 }', /^line 3, .+healthCheck\.every: is not a setting\. .+ url and timeoutMs/],
  ])('M8, S5, E6: the health check %s is explained', async (check, why) => {
    const issues = await issuesOf(`systemic:\n  recovery:\n    healthCheck: ${check}\n    everyMs: 1000\n`);
    expect(issues).toEqual([expect.stringMatching(why)]);
  });

  test('M8, S5: a health check is asked at its address; only 2xx is well', async () => {
    const server = createServer((_, response) => response.writeHead(status, { location: '/' }).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const path = await file(`systemic: { recovery: { healthCheck: { url: 'http://127.0.0.1:${port}/health' } } }`);
    const checkOf = () => {
      const { systemic } = loadConfig(path);
      return (systemic || undefined)?.recovery?.healthCheck as () => Promise<boolean>;
    };
    const answers: boolean[] = [];
    let status = 0;
    for (status of [503, 404, 302, 204, 200]) answers.push(await checkOf()());
    server.close();
    server.closeAllConnections();
    expect([...answers, await checkOf()()]).toEqual([false, false, false, true, true, false]);
    expect(checkOf()).toBe(checkOf()); // Otherwise each reload would change a setting that needs a restart.
  });

  test('M8, S5: a health check that hangs is given up', async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const text = `systemic: { recovery: { healthCheck: { url: 'http://127.0.0.1:${port}', timeoutMs: 50.5 } } }`;
    const { systemic } = loadConfig(await file(text));
    expect(await (systemic || undefined)?.recovery?.healthCheck?.()).toBe(false);
    server.close();
    server.closeAllConnections();
  });

  test('M8: the scope may be named in code', async () => {
    const settings = loadConfig(await file('systemic: { pause: affected }'));
    expect(() => createBreakerbox({ agent: 'a', ...settings })).toThrow(/systemic\.pause/);
    expect(createBreakerbox({ agent: 'a', scope: 'process', ...settings }).agent).toBe('a');
  });

  test.each(['../../README.md', '../../../cli/README.md'])('M8: the example of %s can be used', async (readme) => {
    const text = await readFile(new URL(readme, import.meta.url), 'utf8');
    const [, example = ''] = /^```yaml\n(# breakerbox\.yaml.*?)^```$/ms.exec(text) ?? [];
    expect(Object.keys(loadConfig(await file(example)).tools ?? {})).toHaveLength(2);
  });

  test('M8: one mode for all', async () => {
    const settings = inMode(loadConfig(await file(WHOLE)), 'observe_only');
    expect(settings.defaults).toEqual({ failureThreshold: 4, cooldownMs: 30_000, mode: 'observe_only' });
    const session = createBreakerbox({ agent: 'a', ...settings }).session();
    for (const tool of ['web_search', 'news_search']) expect(session.acquire(tool).state).toBe('observe_only');
  });
});
