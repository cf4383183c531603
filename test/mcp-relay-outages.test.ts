/** `breakerbox mcp` before a database's server and a browser's, with recorders of the bytes on both sides: outages cost three calls. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { kill, textOf } from './mcp-processes.ts';
import { mcpRecorder } from './mcp-recorder.ts';
import { browserServer, CHROMIUM, servePages, WITHOUT as WITHOUT_CHROMIUM } from './outages/browser.ts';
import { connect, type Program, scriptOf, sdks } from './outages/clients.ts';
import { findPostgres, type Postgres, startPostgres } from './outages/postgres.ts';
import { descendantsOf, isAlive } from './processes.ts';

const PATIENT = { timeout: 30_000 };
const COOLDOWN_MS = 2_000;

const { recordedWith, folder, extra, expectEqualBytes } = mcpRecorder();

/** The program with the relay and the recorders before it, and a cooldown that a test can wait for. */
const relayed = async ({ args, ...program }: Program): Promise<Program> => {
  const settings = join(folder(), 'breakerbox.yaml');
  await writeFile(settings, `defaults: { cooldownMs: ${COOLDOWN_MS} }`);
  return { ...program, args: recordedWith(['--config', settings], ...args) };
};

/** How a call ended: the text that the model reads, of a result or of an error. */
const endOf = (call: Promise<{ content: unknown }>): Promise<string> =>
  call.then(textOf, (error: Error) => `error: ${error.message}`);

/** Each rejected call, and nothing else, is on the client's side only. */
const expectRejected = (tool: string, count: number): void => {
  expect(extra('in').map((line) => JSON.parse(line).params.name)).toEqual(Array(count).fill(tool));
  expect(extra('out').map((line) => JSON.parse(line).result.isError)).toEqual(Array(count).fill(true));
};

describe('the PostgreSQL server', () => {
  /** CI must have PostgreSQL. */
  const canRun = findPostgres() !== undefined || process.env.CI === 'true';
  const WITHOUT = 'This machine has no PostgreSQL: apt-get install postgresql';
  let postgres: Postgres;
  beforeAll(async () => {
    if (canRun) postgres = await startPostgres();
    else process.stderr.write(`mcp-relay-outages.test.ts: ${WITHOUT}\n`); // Reporters do not show why a test is skipped.
  });
  afterAll(() => postgres?.remove());
  beforeEach(async (context) => {
    if (!canRun) context.skip(WITHOUT);
    await postgres.start();
  });

  describe.each(Object.entries(sdks))('with %s', (_, sdk) => {
    const connected = async () => {
      const args = [scriptOf('@modelcontextprotocol/server-postgres'), postgres.url()];
      const server = await connect(sdk, await relayed({ command: process.execPath, args }));
      const query = (sql: string) => endOf(server.client.callTool({ name: 'query', arguments: { sql } }));
      return { ...server, query };
    };

    test('M2: answers and the mistakes of a model pass, and the bytes are equal on both sides', async () => {
      const { client, query } = await connected();
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['query']);
      for (const [sql, text] of [
        ['SELECT name FROM customers ORDER BY id', 'Ada'],
        ['SELECT * FROM clients', 'relation "clients" does not exist'],
        ['SELCT name FROM customers', 'syntax error at or near "SELCT"'],
        ["SELECT * FROM customers WHERE id = 'Ada'", 'invalid input syntax for type integer: "Ada"'],
        ['SELECT * FROM salaries', 'permission denied for table salaries'],
        ['SELECT name FROM customers WHERE id = 2', 'Grace'],
      ] as const)
        expect(await query(sql)).toContain(text);
      await client.close();
      expectEqualBytes();
    });

    test('M1, M3, M5: a database that is killed costs three calls, and one probe finds that it is back', async () => {
      const first = await connected();
      expect(await first.query('SELECT name FROM customers')).toContain('Ada');
      await postgres.kill();
      // Its server has an open connection, and ends with it. So the relay ends too, and the client starts both again.
      await expect.poll(() => isAlive(first.pid), PATIENT).toBe(false);

      const { client, query } = await connected();
      await client.listTools();
      for (let n = 0; n < 3; n += 1) expect(await query(`SELECT ${n}`)).toContain('connect ECONNREFUSED 127.0.0.1');
      const rejected = await query('SELECT 3');
      expect(rejected).toMatch(
        /^Tool 'query' is unavailable: the last calls failed \(network\)\. Do not call it now\. It may work again in about \d s\. /,
      );
      for (let n = 4; n < 9; n += 1) expect(await query(`SELECT ${n}`)).toContain("Tool 'query' is unavailable");
      expectRejected('query', 6);

      await postgres.start();
      await after(COOLDOWN_MS);
      expect(await query('SELECT 5 AS five')).toContain('five');
      expect(await query('SELECT 6 AS six')).toContain('six');
      await client.close();
      expectRejected('query', 6);
    });
  });
});

describe('the Playwright server', () => {
  /** CI must have Chromium. */
  const canRun = CHROMIUM !== undefined || process.env.CI === 'true';
  beforeAll(() => {
    if (!canRun) process.stderr.write(`mcp-relay-outages.test.ts: ${WITHOUT_CHROMIUM}\n`);
  });
  beforeEach((context) => {
    if (!canRun) context.skip(WITHOUT_CHROMIUM);
  });

  const browsing = async () => {
    const { program, executable } = await browserServer();
    const server = await connect(sdks['SDK 2'], await relayed(program));
    // A server that ends by itself ends its browser and removes its folders.
    onTestFinished(() => server.client.close());
    const call = (name: string, given: Record<string, unknown> = {}) =>
      endOf(server.client.callTool({ name, arguments: given }));
    const port = await servePages();
    const open = (name: string) => call('browser_navigate', { url: `http://${name}:${port}/` });
    return { ...server, executable, call, open };
  };

  test('M2: pages, dead links and missing elements pass, and the bytes are equal on both sides', async () => {
    const { client, call, open } = await browsing();
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('browser_navigate');
    expect(await open('shop.test')).toContain('Page Title: Shop');
    expect(await call('browser_snapshot')).toContain('hello');
    expect(await call('browser_take_screenshot', { type: 'png' })).toContain('.png');
    for (const element of ['#buy', '#sell', '#rent', '#lend'])
      expect(await call('browser_click', { element, target: element })).toContain('Error');
    for (const host of ['one.invalid', 'two.invalid', 'three.invalid', 'four.invalid'])
      expect(await open(host)).toContain('net::ERR_');
    expect(await call('browser_close')).not.toContain('unavailable');
    await client.close();
    expectEqualBytes();
  });

  test('M1, M3, M5: a browser that is killed and gone costs three calls, and one probe finds that it is back', async () => {
    const { client, pid, executable, open } = await browsing();
    expect(await open('shop-a.test')).toContain('Page Title: Shop');
    await rename(executable, `${executable}-away`);
    for (const browser of descendantsOf(pid, /chrom/)) await kill(browser);
    for (const name of ['b', 'c', 'd']) expect(await open(`shop-${name}.test`)).toContain('Error');
    expect(await open('shop-e.test')).toMatch(
      /^Tool 'browser_navigate' is unavailable: the last calls failed \(\w+\)\. Do not call it now/,
    );
    expectRejected('browser_navigate', 1);

    await rename(`${executable}-away`, executable);
    await after(COOLDOWN_MS);
    expect(await open('shop-f.test')).toContain('Page Title: Shop');
    expect(await open('shop-g.test')).toContain('Page Title: Shop');
    await client.close();
    expectRejected('browser_navigate', 1);
  });
});
