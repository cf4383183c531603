import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import instrumentation from '../packages/instrumentation/package.json' with { type: 'json' };
import { COMPILE_CACHE } from '../test/compile-cache.ts';
import { anthropic, gemini, openAi, type Provider } from '../test/newcomer/providers.ts';

const FOLDER = import.meta.dirname;
/** Handlers for servers: servers.test.ts calls them. */
const SERVERS = ['lambda.ts', 'next-route.ts'];
const all = readdirSync(FOLDER).filter((name) => /(?<!\.test)\.ts$/.test(name));
const examples = all.filter((name) => !SERVERS.includes(name));

/** Ways into `@breakerbox/instrumentation` that are no framework's. */
const OTHERS = ['./package.json', '.', './capabilities', './checks', './config', './register', './session'];

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'breakerbox-examples-'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** With nothing in the environment but this: no settings of the person who runs the tests. */
const run = async (example: string, variables: Readonly<Record<string, string>> = {}) => {
  const child = spawn(process.execPath, ['--conditions=breakerbox-source', join(FOLDER, example)], {
    cwd: home,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      OTEL_EXPORTER_PROMETHEUS_PORT: '0',
      ...COMPILE_CACHE,
      ...variables,
    },
  });
  const code = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
};

test('there is one for each framework, and one without', () => {
  const adapters = Object.keys(instrumentation.exports).filter((path) => !OTHERS.includes(path));
  expect(examples).toEqual([...adapters.map((path) => `${path.slice(2)}.ts`), 'plain.ts'].sort());
});

test('the list in README.md names each, and the keys that it reads', () => {
  const listed = [
    ...readFileSync(join(FOLDER, 'README.md'), 'utf8').matchAll(/^\| \[`(.+)`\]\((.+)\) \|.*\| (.*) \|$/gm),
  ];
  expect(listed.map(([, , file]) => file).sort()).toEqual(all);
  for (const [, name, file = '', keys = ''] of listed) {
    expect(`${name}.ts`).toBe(file);
    const read = readFileSync(join(FOLDER, file), 'utf8').match(/(?<=process\.env\.)\w+_API_KEY/g) ?? [];
    expect(new Set(keys.match(/\w+_API_KEY/g))).toEqual(new Set(read));
  }
});

test.each(all)('%s is 30 to 70 lines', (example) => {
  const lines = readFileSync(join(FOLDER, example), 'utf8').trimEnd().split('\n').length;
  expect([lines >= 30, lines <= 70, lines]).toEqual([true, true, lines]);
});

/** The line of the web search in the report; of the tool of an MCP server, whose group is open. */
const WEB = /web_\w*\s+(?:open\s+network|by its group\s+group:web)\s.*\s(\d+)\s+(\d+)$/m;

/** That the web search was unavailable, and that the news search was the fallback. */
const expectTold = ({ code, stdout, stderr }: Awaited<ReturnType<typeof run>>): void => {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const headline = /^(?=1 of 2 tools is unavailable: (?:\w*web_search|group web) \(network\)\.$)/m;
  const [said = '', report = ''] = stdout.split(headline);
  expect(said).toMatch(/news/i);
  expect(report).toMatch(/news_(search|echo)\s+closed\s+1$/m);
};

describe('runs with no key, ends by itself, and says what was unavailable and which fallback was used', () => {
  test.concurrent.each(examples)('%s', async (example) => {
    const end = await run(example);
    expectTold(end);
    const [, failed, rejected] = WEB.exec(end.stdout) ?? [];
    expect({ failed: Number(failed) > 0, rejected: Number(rejected) > 0 }).toEqual({ failed: true, rejected: true });
  });
});

test('R5: in a loop of your own the model reads the advice with the failure that opens the circuit', async () => {
  const { stdout } = await run('plain.ts');
  expect(stdout).toMatch(
    /(?:web_search: fetch failed\n){3}Tool 'web_search' is not available now: .* Use 'news_search'/,
  );
});

/** Where a framework has agents that run agents. */
const nested = readdirSync(join(FOLDER, 'sub-agents'));

test('the list of sub-agents in README.md names each', () => {
  const listed = readFileSync(join(FOLDER, 'README.md'), 'utf8').matchAll(/\]\(sub-agents\/(.+?)\)/g);
  expect([...listed].map(([, file]) => file).sort()).toEqual(nested);
});

describe('D1: a sub-agent is in the tree of the report, and in one trace', () => {
  test.concurrent.each(nested)('%s', async (example) => {
    const { code, stdout, stderr } = await run(`sub-agents/${example}`, { OTEL_TRACES_EXPORTER: 'console' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('The article: breakers are back.');
    expect(stdout).toMatch(/^Sub-agents\n {2}- [\w-]*research\w* \(.+\): 2 calls, [23]\s+steps,[^.]* ended\.$/m); // Lines wrap.
    const traces = new Set(stdout.match(/(?<=traceId: ')\w+/g));
    expect(stdout.match(/^ {2}name: 'invoke_agent [\w-]*'/gm)).toHaveLength(2);
    expect(stdout.match(/^ {2}parentSpanContext: undefined/gm)).toHaveLength(1);
    expect(traces.size).toBe(1);
  });
});

describe('a server runs with no key, calls itself, and ends', () => {
  test.concurrent.each(SERVERS)('%s', async (server) => {
    const { stdout, ...ended } = await run(server);
    expect(ended).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/web_search/);
  });
});

/** AI Gateway, which `ai-sdk.ts` takes a model from, has no variable that says where it is. */
const providers: Readonly<Record<string, Provider>> = {
  'anthropic.ts': anthropic,
  'claude-agent.ts': anthropic,
  'google-adk.ts': gemini,
  'langchain.ts': openAi,
  'mastra.ts': openAi,
  'mcp.ts': openAi,
  'openai-agents.ts': openAi,
  'plain.ts': openAi,
};

describe('runs with a key, on the model of the provider', () => {
  test('each but that of the AI SDK, here with the API of the provider on loopback', () => {
    expect([...Object.keys(providers), 'ai-sdk.ts'].sort()).toEqual(examples);
  });

  test.concurrent.each(Object.entries(providers))('%s', async (example, { start, variables }) => {
    const prefix = example === 'claude-agent.ts' ? 'mcp__research__' : '';
    const ask = (tool: string, text: string) =>
      example === 'mcp.ts'
        ? [{ tool: `${tool}_echo`, input: { message: text } }]
        : [{ tool: `${prefix}${tool}_search`, input: { query: text } }];
    const asked = ['one', 'two', 'three', 'four', 'five'].map((text) => ask('web', text));
    const api = await start([...asked, ask('news', 'six'), 'The provider says: only the news is there.']);
    try {
      const end = await run(example, variables(api.url));
      expectTold(end);
      expect(end.stdout).toContain('The provider says: only the news is there.');
      expect(api.heard()).toHaveLength(6);
      expect(api.heard().join('\n')).toMatch(/Tool '\w*web_\w+' is unavailable: .* Use '\w*news_\w+' instead/);
    } finally {
      await api.stop();
    }
  });
});
