/**
 * A typical MCP server, for tests: it fetches pages, runs code and searches a documentation service. It reports errors in the ways
 * that real servers do.
 *
 * | variable | meaning |
 * |---|---|
 * | `TEST_NAMES=1` | `*.test` resolves to this machine, and no other host resolves: the tests do not depend on a name server |
 * | `INTERPRETER` | the program that runs the code. Default: this Node |
 * | `DOCS` | the address of the documentation service |
 */
import { execFile } from 'node:child_process';
import dns from 'node:dns';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const { TEST_NAMES, INTERPRETER = process.execPath, DOCS = '' } = process.env;

if (TEST_NAMES !== undefined) {
  const answer = (name: string, _options: unknown, done: (...given: unknown[]) => void): void => {
    const error = { errno: -3008, code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: name };
    if (name.endsWith('.test')) done(null, [{ address: '127.0.0.1', family: 4 }]);
    else done(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), error));
  };
  dns.lookup = answer as typeof dns.lookup;
}

const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });
const failed = (text: string) => ({ isError: true, ...said(text) });
const server = new McpServer({ name: 'toolbox', version: '1.0.0' });
const url = z.string();

/** Gives Node's reason for a failure. */
server.registerTool('fetch_page', { description: 'Fetches a page', inputSchema: { url } }, async (input) => {
  try {
    const response = await fetch(input.url);
    const text = await response.text();
    return response.ok ? said(text) : failed(`Failed to fetch ${input.url} - status code ${response.status}`);
  } catch (error) {
    const { cause = error } = error as Error;
    return failed(`Failed to fetch ${input.url}: ${(cause as Error).message}`);
  }
});

/** Lets the error escape. The SDK turns it into `fetch failed`, without the reason. */
server.registerTool('fetch_html', { description: 'Fetches a page', inputSchema: { url } }, async (input) => {
  const response = await fetch(input.url);
  return said(await response.text());
});

type Run = { readonly error: Error | null; readonly stdout: string; readonly stderr: string };

const runCode = (code: string): Promise<Run> =>
  new Promise((resolve) => {
    execFile(INTERPRETER, ['--input-type=module', '-e', code], (error, stdout, stderr) =>
      resolve({ error, stdout, stderr }),
    );
  });

const code = z.string();

/** Returns the output of the program. */
server.registerTool('run_code', { description: 'Runs JavaScript', inputSchema: { code } }, async (input) => {
  const { error, stdout, stderr } = await runCode(input.code);
  return error === null ? said(stdout) : failed(stderr || error.message);
});

/** Returns Node's message about a failure: `Command failed`, the command, and the program's output. */
server.registerTool('execute_code', { description: 'Runs JavaScript', inputSchema: { code } }, async (input) => {
  const { error, stdout } = await runCode(input.code);
  return error === null ? said(stdout) : failed(error.message);
});

/** Reports everything as text, and never sets `isError`. */
server.registerTool(
  'search_libraries',
  { description: 'Searches documentation', inputSchema: { query: z.string() } },
  async ({ query }) => {
    try {
      const response = await fetch(`${DOCS}?query=${encodeURIComponent(query)}`);
      if (!response.ok) return said(`Failed to search libraries. Error code: ${response.status}`);
      return said(await response.text());
    } catch (error) {
      return said(`Error searching libraries: ${error}`);
    }
  },
);

await server.connect(new StdioServerTransport());
