import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BreakerboxConfigError, createBreakerbox } from '@breakerbox/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Environment, registrationOf } from './register-config.ts';

const boxConfigOf = async (env: Environment) => (await registrationOf(env)).config;

let folder: string;
let capabilities: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-register-'));
  capabilities = join(folder, 'capabilities.yaml');
  await writeFile(capabilities, 'tools:\n  web_search:\n    fallback: ask the user for a link\n');
});
afterAll(() => rm(folder, { recursive: true }));

describe('node --import @breakerbox/instrumentation/register', () => {
  const agent = fileURLToPath(new URL('./test-support/unaware-agent.ts', import.meta.url));
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  /** Runs the program; what its model heard. */
  const heardWith = async (env: Record<string, string>, more: readonly string[] = []): Promise<string[]> => {
    const flags = ['--conditions=breakerbox-source', '--import', '@breakerbox/instrumentation/register', ...more];
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, agent], { cwd, env });
    return JSON.parse(stdout);
  };

  test('guards an agent that does not use Breakerbox', async () => {
    const heard = await heardWith({ BREAKERBOX_CAPABILITIES: capabilities });
    expect(heard.slice(0, 3)).toEqual(Array(3).fill(expect.stringContaining('fetch failed')));
    expect(heard[3]).toMatch(
      /^ToolUnavailableError: Tool 'web_search' is unavailable: the last calls failed \(network\)/,
    );
    expect(heard[3]).toMatch(/Instead: ask the user for a link\. \[breakerbox:not-called\]$/);
  });

  test('changes nothing in mode observe', async () => {
    const heard = await heardWith({ BREAKERBOX_MODE: 'observe_only' });
    expect(heard).toEqual(Array(4).fill(expect.stringContaining('fetch failed')));
  });

  test('ends the process for invalid settings, with the reason', async () => {
    const missing = join(folder, 'missing.yaml');
    await expect(heardWith({ BREAKERBOX_CAPABILITIES: missing })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/BreakerboxConfigError.*missing\.yaml.*doesn't exist \(ENOENT\)/s),
    });
  });
});

describe('the variables', () => {
  test("name the agent: our own, then OpenTelemetry's, then a default", async () => {
    const named = { BREAKERBOX_AGENT: 'research-agent', OTEL_SERVICE_NAME: 'service' };
    expect(await boxConfigOf(named)).toEqual({ agent: 'research-agent' });
    expect(await boxConfigOf({ ...named, BREAKERBOX_AGENT: ' ' })).toEqual({ agent: 'service' });
    expect(await boxConfigOf({})).toEqual({ agent: 'unknown_agent' });
  });

  test('set scope, mode and tools', async () => {
    const env = { BREAKERBOX_SCOPE: 'process', BREAKERBOX_MODE: 'observe_only', BREAKERBOX_CAPABILITIES: capabilities };
    expect(await boxConfigOf(env)).toEqual({
      agent: 'unknown_agent',
      scope: 'process',
      defaults: { mode: 'observe_only' },
      tools: { web_search: { fallback: 'ask the user for a link' } },
    });
  });

  test('E6: are rejected if they are invalid, all at once, the capability file too', async () => {
    const missing = join(folder, 'missing.yaml');
    const env = { BREAKERBOX_SCOPE: 'thread', BREAKERBOX_MODE: 'watch', BREAKERBOX_CAPABILITIES: missing };
    const rejection = boxConfigOf(env);
    await expect(rejection).rejects.toThrow(BreakerboxConfigError);
    await expect(rejection).rejects.toThrow(/^Breakerbox can't use this environment:\n/);
    await expect(rejection).rejects.toThrow(/BREAKERBOX_MODE: is 'watch'.*BREAKERBOX_SCOPE: is 'thread'/s);
    await expect(rejection).rejects.toThrow(/BREAKERBOX_CAPABILITIES, .*missing\.yaml: .*doesn't exist \(ENOENT\)/s);
  });

  test('E6: are rejected if their names are unknown, except those of our start script', async () => {
    const rejection = boxConfigOf({ BREAKERBOX_MODES: 'observe_only' });
    await expect(rejection).rejects.toThrow(
      /BREAKERBOX_MODES: is not a variable that Breakerbox reads\. .*The variables are BREAKERBOX_AGENT, /,
    );
    const ofKubernetes = {
      BREAKERBOX_COLLECTOR_SERVICE_HOST: '10.96.0.7',
      BREAKERBOX_COLLECTOR_PORT_4317_TCP_PORT: '4317',
    };
    expect(await boxConfigOf({ BREAKERBOX_PARENT: '1', ...ofKubernetes })).toEqual({ agent: 'unknown_agent' });
  });

  test('M8: BREAKERBOX_CONFIG names a file with settings, and the other variables win', async () => {
    const config = join(folder, 'breakerbox.yaml');
    await writeFile(
      config,
      'agent: filed\nscope: process\ntools: { web_search: { failureThreshold: 1, mode: disabled }, b: { fallback: wait } }',
    );
    expect(await boxConfigOf({ BREAKERBOX_CONFIG: config, OTEL_SERVICE_NAME: 'service' })).toEqual({
      agent: 'filed',
      scope: 'process',
      tools: { web_search: { failureThreshold: 1, mode: 'disabled' }, b: { fallback: 'wait' } },
    });
    const more = { BREAKERBOX_SCOPE: 'none', BREAKERBOX_MODE: 'observe_only', BREAKERBOX_CAPABILITIES: capabilities };
    expect(await boxConfigOf({ BREAKERBOX_CONFIG: config, BREAKERBOX_AGENT: 'mine', ...more })).toEqual({
      agent: 'mine',
      scope: 'none',
      defaults: { mode: 'observe_only' },
      tools: { web_search: { fallback: 'ask the user for a link', failureThreshold: 1 }, b: { fallback: 'wait' } },
    });
    await writeFile(config, 'scopes: none');
    await expect(boxConfigOf({ BREAKERBOX_CONFIG: config, BREAKERBOX_SCOPE: 'thread' })).rejects.toThrow(
      /BREAKERBOX_SCOPE: is 'thread'.*BREAKERBOX_CONFIG, .*breakerbox\.yaml: line 1, scopes: is not a setting/s,
    );
  });

  test('M8: the box follows the file of BREAKERBOX_CONFIG, and the variables still win', async () => {
    const config = join(folder, 'followed.yaml');
    await writeFile(config, 'tools: { a: { failureThreshold: 5 } }');
    const { config: settings, follow } = await registrationOf({
      BREAKERBOX_CONFIG: config,
      BREAKERBOX_MODE: 'observe_only',
    });
    const box = createBreakerbox(settings);
    const stop = follow(box);
    await writeFile(config, 'tools: { a: { failureThreshold: 5 }, b: { mode: forced_open } }');
    await expect.poll(() => box.tools, { timeout: 10_000 }).toEqual(['a', 'b']);
    expect(box.session().acquire('b').state).toBe('observe_only');
    stop?.();
  });
});
