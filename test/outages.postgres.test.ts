/** The PostgreSQL server of MCP on a real database: the model's mistakes in SQL, and a database that is down. */
import { guardMcpClient } from '@breakerbox/instrumentation/mcp';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { skipped, skippedWith, stateOf, textOf, turns } from './mcp-processes.ts';
import { connect, type Program, scriptOf, sdks, spent, watched } from './outages/clients.ts';
import { findPostgres, type Postgres, startPostgres } from './outages/postgres.ts';
import { isAlive } from './processes.ts';

/** CI must have PostgreSQL. */
const canRun = findPostgres() !== undefined || process.env.CI === 'true';
const WITHOUT = 'This machine has no PostgreSQL: apt-get install postgresql';
const SERVER = 'example-servers/postgres';

let postgres: Postgres;

beforeAll(async () => {
  if (canRun) postgres = await startPostgres();
  else process.stderr.write(`outages.postgres.test.ts: ${WITHOUT}\n`); // Reporters do not show why a test is skipped.
});
afterAll(() => postgres?.remove());
beforeEach(async (context) => {
  if (!canRun) context.skip(WITHOUT);
  await postgres.start();
});

const serverOn = (url: string): Program => ({
  command: process.execPath,
  args: [scriptOf('@modelcontextprotocol/server-postgres'), url],
});

const MISTAKES: Readonly<Record<string, string>> = {
  'SELECT * FROM clients': 'relation "clients" does not exist',
  'SELECT nme FROM customers': 'column "nme" does not exist',
  'SELCT name FROM customers': 'syntax error at or near "SELCT"',
  'SELECT name FROM customers WHERE': 'syntax error at end of input',
  'SELECT lenght(name) FROM customers': 'function lenght(text) does not exist',
  "SELECT * FROM customers WHERE id = 'Ada'": 'invalid input syntax for type integer: "Ada"',
  'SELECT id / 0 FROM customers': 'division by zero',
  'SELECT id FROM customers, orders': 'column reference "id" is ambiguous',
  'SELECT name, count(*) FROM customers': 'must appear in the GROUP BY clause',
  'SELECT name + 1 FROM customers': 'operator does not exist: text + integer',
  'SELECT * FROM salaries': 'permission denied for table salaries',
  "INSERT INTO customers VALUES (3, 'Joan')": 'cannot execute INSERT in a read-only transaction',
};

describe.each(Object.entries(sdks))('with %s', (_, sdk) => {
  const guardedOn = async (url: string) => {
    const seen = watched();
    const server = await connect(sdk, serverOn(url));
    const guarded = guardMcpClient(server.client, seen.session);
    const query = (sql: string) => guarded.callTool({ name: 'query', arguments: { sql } });
    return { ...seen, ...server, query };
  };

  test('O2: mistakes in SQL open no circuit and cost nothing', async () => {
    const { session, query, decisions, outcomes } = await guardedOn(postgres.url());
    for (const [sql, message] of Object.entries(MISTAKES)) await expect(query(sql)).rejects.toThrow(message);
    expect(textOf(await query('SELECT name FROM customers ORDER BY id'))).toContain('Ada');
    expect(new Set(decisions)).toEqual(new Set(['query: call']));
    expect(outcomes.filter((one) => one.includes('failure'))).toEqual([]);
    expect(spent(session)).toBe(0);
  });

  test('a database that does not answer opens the circuit, and one probe closes it when the database is up again', async () => {
    await postgres.stop();
    const { session, query, outcomes, reasons } = await guardedOn(postgres.url());
    for (const id of [1, 2, 3]) {
      await expect(query(`SELECT ${id}`)).rejects.toThrow('connect ECONNREFUSED 127.0.0.1');
    }
    expect(outcomes).toEqual(Array(3).fill('query: failure, network'));
    expect(await query('SELECT 4')).toEqual(skipped('query', 'network'));
    expect(spent(session)).toBe(1);

    await postgres.start();
    turns(session);
    expect(textOf(await query('SELECT 5 AS five'))).toContain('five');
    expect(reasons.slice(-2)).toEqual(['query: skip, open', 'query: probe, probe_due']);
    expect(session.peek('query')?.state).toBe('closed');
  });

  test('C13: a database that stops also ends its MCP server, which opens the group, and one probe closes it', async () => {
    const { session, query, pid, restart, reasons } = await guardedOn(postgres.url());
    expect(textOf(await query('SELECT name FROM customers'))).toContain('Ada');
    await postgres.stop();
    // The server has an open connection, and exits when that one ends.
    await expect.poll(() => isAlive(pid)).toBe(false);
    await expect(query('SELECT 1')).rejects.toThrow();
    expect(stateOf(session, SERVER)).toBe('open');
    expect(await query('SELECT 2')).toEqual(skippedWith('query', SERVER));
    expect(spent(session)).toBe(1);

    await postgres.start();
    await restart();
    turns(session);
    expect(textOf(await query('SELECT name FROM customers'))).toContain('Ada');
    expect(reasons.slice(-2)).toEqual(['query: skip, group_open', 'query: probe, group_probe_due']);
    expect(stateOf(session, SERVER)).toBe('closed');
  });

  test('O2: a password that the database rejects opens the circuit', async () => {
    const { query, outcomes } = await guardedOn(postgres.url('wrong'));
    for (const id of [1, 2, 3]) {
      await expect(query(`SELECT ${id}`)).rejects.toThrow('password authentication failed for user "agent"');
    }
    expect(outcomes).toEqual(Array(3).fill('query: failure, permission'));
    expect(await query('SELECT 4')).toEqual(skipped('query', 'permission'));
  });

  test('O2: a database that accepts no more connections opens the circuit', async () => {
    const limit = (connections: number) => postgres.run(`ALTER ROLE agent CONNECTION LIMIT ${connections}`);
    onTestFinished(() => limit(-1));
    await limit(0);
    const { session, query, outcomes } = await guardedOn(postgres.url());
    for (const id of [1, 2, 3]) {
      await expect(query(`SELECT ${id}`)).rejects.toThrow('too many connections for role "agent"');
    }
    expect(outcomes.every((one) => one.startsWith('query: failure'))).toBe(true);
    expect(session.peek('query')?.state).toBe('open');

    await limit(-1);
    turns(session);
    expect(textOf(await query('SELECT 5 AS five'))).toContain('five');
    expect(session.peek('query')?.state).toBe('closed');
  });
});
