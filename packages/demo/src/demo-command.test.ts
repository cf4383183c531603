import type { CommanderError } from 'commander';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DemoOptions } from './demo.ts';
import { demoCommand } from './demo-command.ts';
import type { SharedDemoOptions } from './shared/shared-demo.ts';

beforeEach(() => {
  vi.stubEnv('OTEL_EXPORTER_PROMETHEUS_HOST', undefined);
  vi.stubEnv('OTEL_EXPORTER_PROMETHEUS_PORT', undefined);
});
afterEach(() => vi.unstubAllEnvs());

const parse = async (...flags: string[]): Promise<DemoOptions | SharedDemoOptions | undefined> => {
  let given: DemoOptions | SharedDemoOptions | undefined;
  const keep = async (options: DemoOptions | SharedDemoOptions): Promise<void> => {
    given = options;
  };
  const demo = demoCommand(keep, keep);
  demo.exitOverride().configureOutput({ writeErr: () => undefined });
  await demo.parseAsync(flags, { from: 'user' });
  return given;
};

test('runs everything until it is stopped, without flags', async () => {
  expect(await parse()).toEqual({
    forMs: undefined,
    json: false,
    stack: true,
    host: '127.0.0.1',
    port: 9464,
    isPortWanted: false,
    color: true,
    names: ['research-agent', 'support-agent', 'ops-agent'],
    pace: 1,
  });
});

test('reads every flag', async () => {
  const flags =
    '--for 1m30s --json --no-stack --host 0.0.0.0 --port 0 --no-color --agent ops-agent --pace 2.5 --agent research-agent';
  expect(await parse(...flags.split(' '))).toEqual({
    forMs: 90_000,
    json: true,
    stack: false,
    host: '0.0.0.0',
    port: 0,
    isPortWanted: true,
    color: false,
    // In the order of the fleet, not of the flags.
    names: ['research-agent', 'ops-agent'],
    pace: 2.5,
  });
});

test('--fleet is another demo, with a time and JSON', async () => {
  vi.stubEnv('OTEL_EXPORTER_PROMETHEUS_PORT', '9500'); // It serves no metrics.
  expect(await parse('--fleet', '--for', '20s', '--json')).toEqual({ forMs: 20_000, json: true, pace: 1 });
  const redisUrl = 'redis://redis:6379';
  expect(await parse('--redis', redisUrl)).toEqual({ forMs: undefined, json: false, pace: 1, redisUrl });
});

test("reads OpenTelemetry's variables, lets flags override them, and ignores empty ones", async () => {
  vi.stubEnv('OTEL_EXPORTER_PROMETHEUS_PORT', '9500');
  vi.stubEnv('OTEL_EXPORTER_PROMETHEUS_HOST', '');
  expect(await parse()).toMatchObject({ host: '127.0.0.1', port: 9500, isPortWanted: true });
  expect(await parse('--port', '9501')).toMatchObject({ port: 9501 });
});

describe('rejects a wrong flag, and says what to write', () => {
  test.each([
    ['--for 9x', 'Write a time such as 90s'],
    ['--for 0', 'Write a time such as 90s'],
    ['--for 30d', 'of 20 days at most'],
    ['--port 70000', 'Write a whole number from 0'],
    ['--port -1', 'Write a whole number from 0'],
    ['--agent ghost', 'Write one of research-agent, support-agent, ops-agent'],
    ['--pace 0.5', 'Write a number from 1'],
    ['--pace slow', 'Write a number from 1'],
    ['--pace 101', 'to 100'],
    ['--fleet --agent ops-agent', "'--fleet' cannot be used with option '--agent"],
    ['--redis redis:6379', 'such as redis://127.0.0.1:6379'],
    ['--redis http://redis:6379', 'such as redis://127.0.0.1:6379'],
    ['--redis redis://redis:6379 --agent ops-agent', "'--fleet' cannot be used with option '--agent"],
    ['--jsn', 'Did you mean --json?'],
    ['now', 'too many arguments'],
  ])('%s', async (flags, message) => {
    const error = await parse(...flags.split(' ')).catch((thrown: CommanderError) => thrown);
    expect(error).toMatchObject({ exitCode: 1, message: expect.stringContaining(message) });
  });
});
