import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const folder = fileURLToPath(new URL('..', import.meta.url));
const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
const snippets = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);

/** Runs code as a program of its own; what it printed. */
const run = async (code: string): Promise<string> => {
  const preload = new URL('./test-support/fake-provider.ts', import.meta.url).href;
  const flags = ['--conditions=breakerbox-source', `--import=${preload}`, '--input-type=module-typescript'];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '--eval', code], { cwd: folder });
  return stdout;
};

describe('the snippets of the README run unchanged', () => {
  test.each([
    [
      "'fetch_page'",
      /(TypeError: fetch failed\n){3}Tool 'fetch_page' is not available now for this target: .*\nTool 'fetch_page' is unavailable for this target: the last calls failed \(network\)/,
    ],
    [
      "'news_search'",
      /^\[answered by 'news_search' .*, which failed \(network\): .*; little is lost\]\nNews of breakers: none\.\n\[answered by 'news_search' .*; little is lost\]\nNews of fuses: none\.\n/,
    ],
    ['isFailure: (', /^open\n/],
    ['httpEndpoint(', /^web_search,read_notes,translate\n/],
    ['} = guardAll(', /^\d{4}-\d\d-\d\dT.*\nTypeError: fetch failed\n/],
    ['hookedCalls(', /^Tool 'read_page' is unavailable: .*/],
    ['registerTelemetry(', /^The model heard: \[\]\n$/],
    [
      'tools: guardTools(tools, session, { timeoutMs: 10_000 })',
      /I could not read the page\.\nThe model heard: .*Tool 'fetchPage' is unavailable for this target: .* \(network\)/,
    ],
    ['guardMcpClient(client', /Echo: hello/],
  ])('%s', async (part, expected) => {
    const [code, ...others] = snippets.filter((one) => one.includes(part));
    expect(others).toEqual([]);
    expect(await run(code ?? 'throw new Error("no such snippet")')).toMatch(expected);
  });
});
