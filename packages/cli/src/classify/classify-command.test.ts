/** The command in this process with its own terminal. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../test-support-command.ts';
import { type ClassifyReport, classifyCommand } from './classify-command.ts';

const run = (content: string, ...flags: readonly string[]) =>
  runCommand((io) => classifyCommand(io, Readable.from([content])), ['-', ...flags]);

const judged = async (content: string, ...flags: readonly string[]): Promise<readonly ClassifyReport[]> =>
  JSON.parse((await run(content, '--json', ...flags)).out);

const LINES = 'connect ECONNREFUSED 127.0.0.1:5432\nuser not found\n\nboom\n';

describe('O2: breakerbox classify', () => {
  test('O2: prints a table of texts, one per line', async () => {
    const { code, out, err } = await run(LINES);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/failure +network +tool +code ECONNREFUSED +connect ECONNREFUSED/);
    expect(out).toMatch(/ignored +tool_error +- +the text is about what was asked for +user not found/);
    expect(out).toMatch(/ignored +tool_error +- +nothing says why +boom/);
    expect(out).toContain('1 of 3 would count as a failure');
  });

  test('O2: reads --thrown, --whole and --tool', async () => {
    expect((await judged('boom', '--thrown'))[0]).toMatchObject({ outcome: 'failure', category: 'unknown' });
    expect(await judged(LINES, '--whole')).toHaveLength(1);
    expect((await judged('HTTP 503', '--tool', 'bash'))[0]).toMatchObject({ category: 'tool_error' });
    expect((await judged('HTTP 403', '--tool', 'fetch'))[0]).toMatchObject({ outcome: 'failure', blames: 'key' });
  });

  test('O2: reads JSON: errors, results, and arrays of them', async () => {
    expect(await judged('{"name":"Error","message":"x","code":"ENOSPC"}')).toEqual([
      { text: 'x', outcome: 'failure', category: 'resource', blames: 'tool', why: 'code ENOSPC', judgedBy: 'evidence' },
    ]);
    const results = [{ error: 'HTTP 429, Retry-After: 3' }, { isError: true, content: [] }, { hits: 3 }, 'timed out'];
    expect((await judged(JSON.stringify(results))).map(({ outcome }) => outcome)).toEqual([
      'failure',
      'ignored',
      'success',
      'failure',
    ]);
    expect((await judged(JSON.stringify(results)))[0]).toMatchObject({ category: 'rate_limit', retryAfterMs: 3000 });
  });

  test('O2: reads JSONL: samples, MCP results, JSON-RPC errors, thrown errors', async () => {
    const rows = [
      { text: 'HTTP 503', tool: 'runner', expect: 'business' },
      { text: 'Error: connect ECONNREFUSED', isError: false },
      { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'relation "x" does not exist' } },
      { jsonrpc: '2.0', id: 2, result: { isError: true, content: [{ type: 'text', text: 'read ECONNRESET' }] } },
      { tool: 'search', error: { name: 'TimeoutError', message: 'x' } },
      { text: 'HTTP 404', tool: 'http_request', input: { url: 'https://a.example/' } },
    ];
    const reports = await judged(rows.map((row) => JSON.stringify(row)).join('\n'));
    expect(reports.map(({ outcome, category }) => [outcome, category])).toEqual([
      ['ignored', 'tool_error'],
      ['failure', 'network'],
      ['ignored', 'tool_error'],
      ['failure', 'network'],
      ['failure', 'timeout'],
      ['ignored', 'tool_error'],
    ]);
  });

  test('O2: shows control characters of a text by their number', async () => {
    expect((await run('\u001b[2Jboom')).out).toContain('\\u{1b}[2Jboom');
  });

  test.each([
    ['breakerbox-missing', 'there is no file'],
    ['.', 'is a folder'],
  ])('O2: says how to fix the path: %s', async (name, wanted) => {
    const { code, err } = await runCommand(classifyCommand, [join(tmpdir(), name)]);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(wanted) });
  });

  test('O2: an empty file is an error', async () => {
    expect(await run(' \n')).toMatchObject({ code: 1, err: expect.stringContaining('The file is empty') });
  });
});
