/** The command prints its results, and nothing of its environment or command line. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { secretOf, secretsIn } from './plants.ts';

const MAIN = fileURLToPath(new URL('../../packages/demo/src/main.ts', import.meta.url));
const PLACES = ['environment of the command', 'headers of the command'];

const demo = (...flags: readonly string[]): Promise<{ stdout: string; stderr: string }> => {
  const args = ['--conditions=breakerbox-source', MAIN, '--no-stack', '--port', '0', '--for', '3s', ...flags];
  const env = {
    PATH: process.env.PATH,
    OPENAI_API_KEY: secretOf('environment of the command').trim(),
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=${secretOf('headers of the command').slice(0, 24)}`,
  };
  return promisify(execFile)(process.execPath, args, { env, timeout: 55_000 });
};

test.concurrent.each([
  ['--json', '"decisions"'],
  ['--no-color', 'Breakerbox demo'],
])('Q2: npm run demo -- %s', async (flag, holds) => {
  const { stdout, stderr } = await demo(flag);
  expect((stdout + stderr).includes(holds), `the output has ${holds}`).toBe(true);
  expect(secretsIn(stdout + stderr, PLACES)).toEqual([]);
});
