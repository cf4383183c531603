/** The command as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { DemoReport } from './demo-report.ts';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

interface Run {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; out: string; err: string }>;
}

/** In a process group of its own, so that the test finds every process that it leaves behind. */
const demo = (...flags: string[]): Run => {
  const child = spawn(process.execPath, ['--conditions=breakerbox-source', MAIN, '--no-stack', ...flags], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, BREAKERBOX_WARNINGS: 'on' }, // The demo is a program without a mistake: stderr stays empty.
  });
  const texts = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.err += text;
  });
  return { child, ended: once(child, 'close').then(([code]) => ({ code, ...texts })) };
};

const groupOf = ({ child }: Run): number => {
  if (child.pid === undefined) throw new Error('the demo could not be started');
  return -child.pid;
};

/** Signal 0 asks whether a process of the group exists. */
const leavesNothing = (run: Run): void => expect(() => process.kill(groupOf(run), 0)).toThrow('ESRCH');

test.concurrent('runs for the given time, prints a JSON report, and leaves nothing running', async () => {
  const run = demo('--json', '--for', '8s', '--port', '0');
  const { code, out, err } = await run.ended;
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const report = JSON.parse(out) as DemoReport;
  expect(report.urls).toEqual({
    metrics: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/),
    prometheus: null,
    alertmanager: null,
  });
  expect(report.stack).toEqual({ prometheus: 'off', alertmanager: 'off' });
  expect(new Set(report.decisions.map(({ agent }) => agent))).toEqual(
    new Set(['research-agent', 'support-agent', 'ops-agent']),
  );
  expect(report.decisions.every(({ call }) => call > 0)).toBe(true);
  expect(report.script.incidents[0]).toMatchObject({ title: 'tickets answers 429 with Retry-After', what: 'begins' });
  leavesNothing(run);
});

test.concurrent('runs one agent at half the pace, with only its own tools and incidents', async () => {
  const run = demo('--json', '--for', '12s', '--port', '0', '--agent', 'support-agent', '--pace', '2');
  const { code, out, err } = await run.ended;
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const report = JSON.parse(out) as DemoReport;
  expect(new Set(report.decisions.map(({ agent }) => agent))).toEqual(new Set(['support-agent']));
  expect(report.script.incidents).toMatchObject([{ title: 'tickets answers 429 with Retry-After', what: 'begins' }]);
  expect(report.script.incidents[0]?.atMs).toBeGreaterThanOrEqual(8000);
  leavesNothing(run);
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('ends on %s as if its time were over', async (signal) => {
  const run = demo('--port', '0');
  const { child } = run;
  await once(child.stdout ?? child, 'data');
  // To the whole group, as a terminal does on ctrl-c.
  process.kill(groupOf(run), signal);
  const { code, out, err } = await run.ended;
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain('circuits      0 opened');
  leavesNothing(run);
});

test('rejects a port that is in use, and says what to do', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;
  const run = demo('--port', String(port));
  expect(await run.ended).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('--port 0 takes any free port'),
  });
  holder.close();
  leavesNothing(run);
});
