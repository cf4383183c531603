/** What servers and clients of both SDKs do besides calls of tools, through `breakerbox mcp`, and servers that misbehave. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client as ClientOfSdk2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioOfSdk2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioOfSdk1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as schemas from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, test } from 'vitest';
import { npmServer, startServer } from './mcp-server-process.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const MAIN = ['--conditions=breakerbox-source', path('../packages/cli/src/main.ts'), 'mcp'];
const RELAY = [...MAIN, '--'];
const who = { name: 'relay-test', version: '0.0.0' };
const capabilities = { sampling: {}, elicitation: { form: {} }, roots: {} };

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

/** The arguments of Node for a relay before a server, by how the server is reached. */
const BEFORE: Readonly<Record<string, (script: string) => Promise<string[]>>> = {
  stdio: async (script) => [...RELAY, process.execPath, script],
  HTTP: async (script) => {
    const { url, kill } = await startServer(script);
    undo.push(kill);
    return [...MAIN, url];
  },
};

const SAMPLED = { model: 'm', role: 'assistant', content: { type: 'text', text: 'Hi!' } } as const;
const ELICITED = { action: 'accept', content: { name: 'Ada' } } as const;
const ROOTS = { roots: [{ uri: 'file:///work' }] };

/** A client that answers each request, and writes down what it is told. */
const connected = {
  'SDK 1': async (args: string[]) => {
    const told: string[] = [];
    const client = new ClientOfSdk1(who, { capabilities });
    client.setRequestHandler(schemas.CreateMessageRequestSchema, () => SAMPLED);
    client.setRequestHandler(schemas.ElicitRequestSchema, () => ELICITED);
    client.setRequestHandler(schemas.ListRootsRequestSchema, () => ROOTS);
    client.setNotificationHandler(schemas.ToolListChangedNotificationSchema, () => void told.push('tools'));
    client.setNotificationHandler(
      schemas.ResourceUpdatedNotificationSchema,
      ({ params }) => void told.push(params.uri),
    );
    client.setNotificationHandler(
      schemas.LoggingMessageNotificationSchema,
      ({ params }) => void told.push(`${params.data}`),
    );
    undo.push(() => client.close());
    await client.connect(new StdioOfSdk1({ command: process.execPath, args, stderr: 'ignore' }));
    const call = (name: string, onprogress?: () => void): Promise<unknown> =>
      client.callTool({ name, arguments: {} }, undefined, onprogress && { onprogress });
    return { told, call, subscribe: () => client.subscribeResource({ uri: 'test://one' }) };
  },
  'SDK 2': async (args: string[]) => {
    const told: string[] = [];
    const client = new ClientOfSdk2(who, { capabilities });
    client.setRequestHandler('sampling/createMessage', () => SAMPLED);
    client.setRequestHandler('elicitation/create', () => ELICITED);
    client.setRequestHandler('roots/list', () => ROOTS);
    client.setNotificationHandler('notifications/tools/list_changed', () => void told.push('tools'));
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri));
    client.setNotificationHandler('notifications/message', ({ params }) => void told.push(`${params.data}`));
    undo.push(() => client.close());
    await client.connect(new StdioOfSdk2({ command: process.execPath, args, stderr: 'ignore' }));
    const call = (name: string, onprogress?: () => void): Promise<unknown> =>
      client.callTool({ name, arguments: {} }, onprogress && { onprogress });
    return { told, call, subscribe: () => client.subscribeResource({ uri: 'test://one' }) };
  },
};

const WAYS = Object.entries(BEFORE).flatMap(([name, before]) =>
  Object.entries(connected).map(([sdk, connect]) => [`${sdk} and a server behind ${name}`, before, connect] as const),
);

describe.each(WAYS)('with %s', (_, before, connect) => {
  test('M2: progress, sampling, elicitation, roots, subscriptions, logging and changed lists arrive', async () => {
    const { told, call, subscribe } = await connect(await before(path('mcp-features-server.mjs')));
    const answer = (text: string) => expect.objectContaining({ content: [{ type: 'text', text }] });
    let progress = 0;
    expect(await call('progress', () => (progress += 1))).toEqual(answer('done'));
    expect(progress).toBe(3);
    expect(await call('sampling')).toEqual(answer('Hi!'));
    expect(await call('elicitation')).toEqual(answer('Ada'));
    expect(await call('roots')).toEqual(answer('file:///work'));
    await subscribe();
    expect(await call('change')).toEqual(answer('done'));
    await expect.poll(() => told.toSorted()).toEqual(['changed', 'test://one', 'tools']);
    expect(await call('added')).toEqual(answer('added'));
  });
});

describe.each(Object.entries(BEFORE))('tasks of the everything server behind %s', (_, before) => {
  const connectedTo = async () => {
    const args = await before(npmServer('everything'));
    const client = new ClientOfSdk1(who, { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler(schemas.ElicitRequestSchema, () => ({
      action: 'accept',
      content: { interpretation: 'technical' },
    }));
    undo.push(() => client.close());
    await client.connect(new StdioOfSdk1({ command: process.execPath, args, stderr: 'ignore' }));
    await client.listTools(); // The SDK learns there which tools are tasks.
    return client;
  };
  const research = (topic: string) => ({ name: 'simulate-research-query', arguments: { topic, ambiguous: true } });

  test('M6: a task that asks a question ends with its result', async () => {
    const client = await connectedTo();
    const seen: string[] = [];
    for await (const message of client.experimental.tasks.callToolStream(research('bees'), undefined, { task: {} })) {
      seen.push(message.type);
      if (message.type === 'result') expect(JSON.stringify(message.result)).toContain('Research Report');
    }
    expect([seen[0], seen.at(-1)]).toEqual(['taskCreated', 'result']);
  });

  test('M6: a cancelled task leaves the tool as it was', async () => {
    const client = await connectedTo();
    for (let n = 0; n < 4; n += 1) {
      const stream = client.experimental.tasks.callToolStream(research(`bees ${n}`), undefined, { task: {} });
      const { value } = await stream.next();
      if (value?.type !== 'taskCreated') throw new Error(`No task, but ${JSON.stringify(value)}`);
      const ended = await client.experimental.tasks.cancelTask(value.task.taskId);
      expect(ended.status).toBe('cancelled');
      await stream.return(undefined);
    }
  });
});

test('M2, M6: the stateless protocol of SDK 2, with questions of the server', async () => {
  const client = new ClientOfSdk2(who, { capabilities, versionNegotiation: { mode: 'auto' } });
  client.setRequestHandler('elicitation/create', () => ELICITED);
  undo.push(() => client.close());
  const args = [...RELAY, process.execPath, path('conformance/server.mjs')];
  await client.connect(new StdioOfSdk2({ command: process.execPath, args, stderr: 'ignore' }));
  expect(client.getProtocolEra()).toBe('modern');
  for (let n = 0; n < 4; n += 1) {
    const { content } = await client.callTool({ name: 'test_input_required_result_elicitation', arguments: {} });
    expect(content).toEqual([{ type: 'text', text: expect.stringContaining('Ada') }]);
  }
});

/** A relay in front of a shell script, by lines. */
const relayed = (script: string) => {
  const child = spawn(process.execPath, [...RELAY, 'sh', '-c', script], { stdio: ['pipe', 'pipe', 'ignore'] });
  undo.push(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return { child, lines, ended: once(child, 'exit') };
};

describe('servers that misbehave', () => {
  test.each([
    ['ends at once', 'exit 3', 3],
    ['is killed while the client connects', 'read line; kill -9 $$', 137],
    ['is killed within a line', 'read line; printf \'{"jsonrpc":"2.0","id":1,\'; kill -9 $$', 137],
  ])('M7: a server that %s', async (_, script, code) => {
    const { child, ended } = relayed(script);
    child.stdin.on('error', () => {});
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n');
    expect(await ended).toEqual([code, null]);
  });

  test('M2: garbage of the server hides no answer', async () => {
    const answer = '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}';
    const { child, lines } = relayed(`read line; printf '}{\\n\\000\\377\\n[[[\\n"\\n'; echo '${answer}'; cat`);
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}\n');
    await expect.poll(() => lines.at(-1), { timeout: 20_000 }).toBe(answer);
    expect(lines).toHaveLength(5);
  });
});

describe('M7: a client that does not read, and a server that writes without end', () => {
  const FLOOD = `process.stdin.resume().on('end', () => process.exit());
    const note = JSON.stringify({ jsonrpc: '2.0', method: 'x', params: 'y'.repeat(1e4) }) + '\\n';
    const flood = () => { while (process.stdout.write(note)); process.stdout.once('drain', flood); };
    flood();`;
  const flooded = async (...flags: string[]) => {
    const args = [...MAIN, ...flags, '--', process.execPath, '-e', FLOOD];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    undo.push(() => child.kill('SIGKILL'));
    await once(child.stdout, 'readable'); // Nothing is read.
    await after(500);
    return { child, ended: once(child, 'exit') };
  };
  const within = (ended: Promise<unknown>) => Promise.race([ended, after(15_000, 'it goes on')]);

  test.each([
    ['the relay', []],
    ['a relay with metrics', ['--prometheus', '0']],
  ])('SIGTERM ends %s', async (_, flags) => {
    const { child, ended } = await flooded(...flags);
    child.kill('SIGTERM');
    expect(await within(ended)).not.toBe('it goes on');
  });

  test('SIGTERM after the end of input ends a relay with metrics', async () => {
    const { child, ended } = await flooded('--prometheus', '0');
    child.stdin.end();
    await after(3_500);
    child.kill('SIGTERM');
    expect(await within(ended)).not.toBe('it goes on');
  });
});

test.runIf(process.platform === 'linux')(
  'a client that does not read slows the server down',
  async () => {
    // 200 messages of 10 MB, of which the client reads none for a while. All of them would be 2 GB.
    const line = `process.stdout.write(JSON.stringify({ jsonrpc: '2.0', method: 'x', params: 'y'.repeat(1e7) }) + '\\n', next)`;
    const script = `let n = 0; const next = () => (n += 1) > 200 || ${line}; next()`;
    const child = spawn(process.execPath, [...RELAY, process.execPath, '-e', script], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    undo.push(() => child.kill('SIGKILL'));
    child.stdout.pause();
    const megabytes = (): number =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;
    await after(4_000);
    let bytes = 0;
    child.stdout.on('data', (chunk: Buffer) => (bytes += chunk.length));
    child.stdout.resume();
    await expect.poll(() => bytes, { timeout: 60_000 }).toBeGreaterThan(2e9 * 0.99);
    expect(megabytes()).toBeLessThan(400);
  },
  120_000,
);
