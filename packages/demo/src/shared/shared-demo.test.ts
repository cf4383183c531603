import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));

/** Ends the demo when it has printed `until`. In a process group of its own, so that the test finds every process that it leaves behind. */
const demo = async (
  flags: readonly string[],
  { env = {}, until }: { readonly env?: NodeJS.ProcessEnv; readonly until?: RegExp } = {},
) => {
  const child = spawn(process.execPath, ['--conditions=breakerbox-source', MAIN, '--fleet', ...flags], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, BREAKERBOX_WARNINGS: 'on', ...env },
  });
  const texts = { out: '', err: '' };
  let isTold = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.out += text;
    if (!isTold && until?.test(texts.out)) {
      isTold = true; // A second signal ends it at once.
      child.kill('SIGTERM');
    }
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.err += text;
  });
  const [code] = await once(child, 'close');
  expect(() => process.kill(-(child.pid ?? Number.NaN), 0)).toThrow('ESRCH');
  return { code: code as number, ...texts };
};

test.concurrent('--fleet tells the story of an outage that two processes see: it opens for all three, one probes, and all recover', async () => {
  const summary =
    /all {9}(\d) probes in all \(\d if each process probes alone\), .*, all call again within (\d+) ms, (\d) told by Redis, (\d) calls into the dead tool \(9 if each process learns alone\)$/m;
  const { code, out, err } = await demo([], { until: summary });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  for (const line of [
    /^00:\d\d {2}redis {7}127\.0\.0\.1:\d+$/m,
    /the tool {4}refuses connections from now on$/m,
    /process \d {3}web_search failed 3 times in a row, and opens here\. Another process must see it too$/m,
    /process \d {3}web_search failed 3 times in a row, and opens here\. Two processes have seen it: it is open for all$/m,
    /process \d {3}sends the one probe of all processes\. It fails$/m,
    /process \d {3}sends the one probe of all processes\. It succeeds: closed for all$/m,
    /process \d {3}Redis says that the tool is back, and calls web_search again$/m,
    /all {9}the demo is over: 1 outage$/m,
  ])
    expect(out).toMatch(line);
  const [probes = 0, recoveredMs = 0, told = 0, calls = 0] = (summary.exec(out) ?? []).slice(1).map(Number);
  // The third process may fail a third time before it is told.
  expect(calls).toBeGreaterThanOrEqual(6);
  expect(told).toBeGreaterThanOrEqual(calls === 9 ? 0 : 1);
  // One that failed, and one that succeeded. A busy machine may see two fail.
  expect([2, 3]).toContain(probes);
  expect(recoveredMs).toBeLessThanOrEqual(2_000);
});

test.concurrent('--fleet ends after its time, and prints JSON', async () => {
  const { code, out, err } = await demo(['--for', '1s', '--json']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(JSON.parse(out)).toEqual({ processes: 3, outages: [] });
});

test.concurrent('--fleet without redis-server says how to get it', async () => {
  const { code, out, err } = await demo([], { env: { PATH: dirname(process.execPath) } });
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toBe(
    'breakerbox demo: the fleet needs redis-server, which is not on PATH. On Debian and Ubuntu: apt-get install redis-server. Elsewhere: put Redis 7 on PATH. Without --fleet, the demo needs no Redis.\n',
  );
});

test.concurrent('--fleet with an address that no Redis has says what to check, and prints no stack', async () => {
  for (const url of ['redis://127.0.0.1:1/x', 'redis://127.0.0.1:1']) {
    const { code, err } = await demo(['--redis', url]);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^breakerbox demo: Redis cannot be used at 127\.0\.0\.1:1: .*Check the address of --redis.*\n$/,
    );
  }
});
