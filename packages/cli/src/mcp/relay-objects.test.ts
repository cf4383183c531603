/** Errors about what the model asked for, through the relay: they make no tool unavailable (O2). */
import { expect, test } from 'vitest';
import { createRelay } from './relay.ts';
import { createRelayBox } from './relay-box.ts';

/** Calls a tool until the relay rejects it. Gives how many calls have reached the server. */
const reached = (
  name: string,
  calls: readonly (readonly [input: object, text: string])[],
  isError: boolean,
): number => {
  const { session, ...rules } = createRelayBox({ agent: 'test', budget: false });
  const relay = createRelay({ session, group: 'server', ...rules });
  const line = (message: object) => ({
    bytes: Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    whole: true,
  });
  relay.fromClient(line({ id: 'list', method: 'tools/list' }));
  relay.fromServer(line({ id: 'list', result: { tools: [{ name, inputSchema: { type: 'object' } }] } }));
  let count = 0;
  for (const [id, [input, text]] of calls.entries()) {
    const { toServer } = relay.fromClient(line({ id, method: 'tools/call', params: { name, arguments: input } }));
    if (toServer === undefined) continue;
    count += 1;
    relay.fromServer(line({ id, result: { content: [{ type: 'text', text }], ...(isError && { isError }) } }));
  }
  session.end();
  return count;
};

const REFUSED = 'connect ECONNREFUSED 10.0.0.5:5432';
const TRACE = `Traceback (most recent call last):\n  File "app.py", line 3, in <module>\nConnectionRefusedError: [Errno 111] Connection refused`;
const hosts = ['a.example.com', 'b.example.org', 'c.example.net', 'd.example.com', 'e.example.org'];
const files = ['one', 'two', 'three', 'four', 'five'].map((name) => `/home/me/${name}.txt`);
const five = (input: (index: number) => object, text: (index: number) => string) =>
  Array.from({ length: 5 }, (_, index) => [input(index), text(index)] as const);

test.each<[string, string, readonly (readonly [object, string])[], boolean]>([
  [
    'the output of tests',
    'run_tests',
    five(
      (n) => ({ path: `tests/${n}` }),
      () => `1 failed\n${TRACE}`,
    ),
    true,
  ],
  [
    'the output of pytest',
    'pytest',
    five(
      (n) => ({ args: [`-k`, `t${n}`] }),
      () => `E   ${REFUSED}\n1 failed in 0.2s`,
    ),
    true,
  ],
  [
    'a program in a pod',
    'exec_in_pod',
    five(
      (n) => ({ pod: `web-${n}`, command: 'curl localhost' }),
      () => `curl: (7) Failed to connect to localhost port 80: Connection refused\ncommand terminated with exit code 7`,
    ),
    true,
  ],
  [
    'files that cannot be read',
    'read_file',
    five(
      (n) => ({ path: files[n] }),
      (n) => `EACCES: permission denied, open '${files[n]}'`,
    ),
    true,
  ],
  [
    'an element that does not appear',
    'browser_wait_for',
    five(
      (n) => ({ text: `Order ${n}` }),
      (n) =>
        `TimeoutError: locator.waitFor: Timeout 5000ms exceeded.\nCall log:\n  - waiting for getByText('Order ${n}') to be visible`,
    ),
    true,
  ],
  [
    'hosts that are pinged',
    'ping_host',
    five(
      (n) => ({ host: hosts[n] }),
      (n) => `ping: ${hosts[n]}: Host unreachable`,
    ),
    true,
  ],
  [
    'names that are looked up',
    'dns_lookup',
    five(
      (n) => ({ hostname: hosts[n] }),
      (n) => `getaddrinfo ENOTFOUND ${hosts[n]}`,
    ),
    true,
  ],
  [
    'ports that are checked',
    'check_port',
    five(
      (n) => ({ host: hosts[n], port: 80 }),
      (n) => `connect ECONNREFUSED ${hosts[n]}:80`,
    ),
    true,
  ],
  [
    'hosts of requests',
    'http_request',
    five(
      (n) => ({ url: `https://${hosts[n]}/` }),
      (n) => `Request to https://${hosts[n]}/ failed: ECONNREFUSED`,
    ),
    true,
  ],
  [
    'logs that are read',
    'read_file',
    five(
      (n) => ({ path: `/var/log/crash-${n}.log` }),
      () => TRACE,
    ),
    false,
  ],
  [
    'a small log that is read',
    'read_file',
    five(
      (n) => ({ path: `/var/log/crash-${n}.log` }),
      () => `Error: ${REFUSED}`,
    ),
    false,
  ],
  [
    'rows of a database',
    'query',
    five(
      (n) => ({ sql: `select message from errors limit ${n}` }),
      () => REFUSED,
    ),
    false,
  ],
  [
    'statements with mistakes',
    'query',
    five(
      (n) => ({ sql: `select a${n} from t` }),
      (n) => `ERROR: column "a${n}" does not exist`,
    ),
    true,
  ],
  [
    'errors that are the content',
    'get_last_error',
    five(
      (n) => ({ job: `job-${n}` }),
      () => REFUSED,
    ),
    false,
  ],
])('O2: %s make no tool unavailable (%s)', (_, tool, calls, isError) => {
  expect(reached(tool, calls, isError)).toBe(5);
});

test('O2: a tool that reads is unavailable when its server is the reason', () => {
  expect(
    reached(
      'read_file',
      five(
        (n) => ({ path: files[n] }),
        () => REFUSED,
      ),
      true,
    ),
  ).toBe(3);
});
