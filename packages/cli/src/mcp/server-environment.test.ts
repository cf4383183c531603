import { text } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import { serverEnvironment } from './server-environment.ts';
import { startServer } from './server-process.ts';

afterEach(() => vi.unstubAllEnvs());

/** As npm 11 has it in `npx -y -p breakerbox breakerbox mcp`. */
const OF_NPX = {
  INIT_CWD: '/home/me',
  npm_command: 'exec',
  npm_config_package: 'breakerbox',
  npm_config_yes: 'true',
  npm_execpath: '/usr/lib/node_modules/npm/bin/npm-cli.js',
  npm_lifecycle_event: 'npx',
  npm_package_json: '/home/me/package.json',
};
const OWN = { npm_config_registry: 'https://npm.example.com/', API_KEY: 'secret' };

test('M7: a server does not get what npx added about the relay', async () => {
  for (const [name, value] of Object.entries({ ...OF_NPX, ...OWN })) vi.stubEnv(name, value);
  const server = startServer(process.execPath, ['-p', 'JSON.stringify(process.env)']);
  const env = JSON.parse(await text(server.stdout)) as Record<string, string>;
  await server.ended;
  expect(Object.keys(env).filter((name) => Object.hasOwn(OF_NPX, name))).toEqual([]);
  expect(env).toMatchObject(OWN);
});

test('M7: without npm, the environment is that of the relay', () => {
  const env = { INIT_CWD: '/home/me', npm_config_yes: 'true', ...OWN };
  expect(serverEnvironment(env)).toBe(env);
});
