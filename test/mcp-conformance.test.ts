/** The conformance suite of the Model Context Protocol: its verdicts are the same through the relay, in both eras. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { serveOverHttp } from './conformance/http-bridge.ts';

const MAIN = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url));
const SERVER = fileURLToPath(new URL('conformance/server.mjs', import.meta.url));
const CLIENT = fileURLToPath(new URL('conformance/client.mjs', import.meta.url));
const RELAY = ['--conditions=breakerbox-source', MAIN, 'mcp'];
const suite = (name: string): string => fileURLToPath(new URL(`node_modules/${name}/dist/index.js`, import.meta.url));

/** How the suite reaches the server. */
const WAYS = {
  direct: () => serveOverHttp(process.execPath, SERVER),
  'through the relay': () => serveOverHttp(process.execPath, ...RELAY, '--', process.execPath, SERVER),
  'through the relay to HTTP': async () => {
    const behind = await serveOverHttp(process.execPath, SERVER);
    const { url, stop } = await serveOverHttp(process.execPath, ...RELAY, behind.url);
    return { url, stop: () => stop().then(behind.stop) };
  },
};

const SUITE = suite('@modelcontextprotocol/conformance');
const NEXT = suite('mcp-conformance-next');

/** The suite's programs, and the scenarios of clients that need no OAuth, which is the client's own (M1). */
const ERAS = {
  'sessions, to 2025-11-25': {
    program: SUITE,
    version: [],
    client: ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry'],
  },
  'stateless, 2026-07-28': {
    program: NEXT,
    version: ['--spec-version', '2026-07-28'],
    client: [
      'tools_call',
      'request-metadata',
      'sep-2322-client-request-state',
      'http-standard-headers',
      'http-custom-headers',
      'http-invalid-tool-headers',
      'json-schema-ref-no-deref',
      'json-schema-2020-12-preservation',
    ],
  },
} as const;

interface Check {
  readonly id: string;
  readonly status: string;
}

/** The verdict of each check, by scenario. */
const verdicts = async (...[program = '', ...args]: readonly string[]): Promise<Map<string, string>> => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-conformance-'));
  try {
    const run = spawn(process.execPath, [program, ...args, '-o', folder], { stdio: 'ignore' });
    await once(run, 'exit');
    return new Map(
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('checks.json'))
        .map((path) => {
          const checks = JSON.parse(readFileSync(join(folder, path), 'utf8')) as Check[];
          const scenario = path.replace(/-\d{4}-\d\d-\d\dT.*$/, '');
          // What the suite writes down beside its verdicts depends on the moment.
          const judged = checks.filter(({ status }) => status !== 'INFO');
          return [scenario, judged.map(({ id, status }) => `${id}: ${status}`).join('\n')] as const;
        })
        .toSorted(([one], [other]) => one.localeCompare(other)),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
};

describe.each(Object.entries(ERAS))('M2: the verdicts are the same: %s', (_, { program, version, client }) => {
  const onServer = async (way: keyof typeof WAYS) => {
    const server = await WAYS[way]();
    try {
      return await verdicts(program, 'server', '--url', server.url, '--suite', 'all', ...version);
    } finally {
      await server.stop();
    }
  };

  test('M2: about a server', { timeout: 900_000 }, async () => {
    const direct = await onServer('direct');
    expect(direct.size).toBeGreaterThan(25);
    const passed = [...direct.values()].filter((text) => text.includes('SUCCESS') && !text.includes('FAILURE'));
    expect(passed.length).toBeGreaterThan(20);
    expect(await onServer('through the relay')).toEqual(direct);
    expect(await onServer('through the relay to HTTP')).toEqual(direct);
  });

  const onClient = (scenario: string, ...relay: readonly string[]) => {
    const command = [process.execPath, CLIENT, ...relay].join(' ');
    return verdicts(program, 'client', '--command', command, '--scenario', scenario, ...version);
  };

  test.each(client)('M1: about a client: %s', { timeout: 120_000 }, async (scenario) => {
    const direct = await onClient(scenario);
    expect([...direct.values()].join()).toContain('SUCCESS');
    expect([...direct.values()].join()).not.toContain('FAILURE');
    expect(await onClient(scenario, process.execPath, ...RELAY)).toEqual(direct);
  });
});
