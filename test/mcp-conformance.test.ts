/** The conformance suite of the Model Context Protocol: the verdicts about a server are the same through the relay, in both eras. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { serveOverHttp } from './conformance/http-bridge.ts';

const MAIN = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url));
const SERVER = fileURLToPath(new URL('conformance/server.mjs', import.meta.url));
const suite = (name: string): string => fileURLToPath(new URL(`node_modules/${name}/dist/index.js`, import.meta.url));

/** How the suite reaches the server. */
const WAYS = {
  direct: () => serveOverHttp(process.execPath, SERVER),
  relayed: () =>
    serveOverHttp(process.execPath, '--conditions=breakerbox-source', MAIN, 'mcp', '--', process.execPath, SERVER),
};

const ERAS = {
  'sessions, to 2025-11-25': [suite('@modelcontextprotocol/conformance'), '--suite', 'all'],
  'stateless, 2026-07-28': [suite('mcp-conformance-next'), '--suite', 'all', '--spec-version', '2026-07-28'],
} as const;

interface Check {
  readonly id: string;
  readonly status: string;
}

/** The verdict of each check, by scenario. */
const verdicts = async (
  way: keyof typeof WAYS,
  [program = '', ...args]: readonly string[],
): Promise<Map<string, string>> => {
  const server = await WAYS[way]();
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-conformance-'));
  try {
    const run = spawn(process.execPath, [program, 'server', '--url', server.url, ...args, '-o', folder], {
      stdio: 'ignore',
    });
    await once(run, 'exit');
    return new Map(
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('checks.json'))
        .map((path) => {
          const checks = JSON.parse(readFileSync(join(folder, path), 'utf8')) as Check[];
          const scenario = path.replace(/-\d{4}-\d\d-\d\dT.*$/, '');
          return [scenario, checks.map(({ id, status }) => `${id}: ${status}`).join('\n')] as const;
        })
        .toSorted(([one], [other]) => one.localeCompare(other)),
    );
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
};

test.each(Object.entries(ERAS))('M2: the verdicts are the same: %s', { timeout: 600_000 }, async (_, run) => {
  const direct = await verdicts('direct', run);
  expect(direct.size).toBeGreaterThan(25);
  const passed = [...direct.values()].filter((text) => text.includes('SUCCESS') && !text.includes('FAILURE'));
  expect(passed.length).toBeGreaterThan(20);
  expect(await verdicts('relayed', run)).toEqual(direct);
});
