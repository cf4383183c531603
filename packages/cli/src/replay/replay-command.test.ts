import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@breakerbox/instrumentation/config';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { runCommand } from '../test-support-command.ts';
import { replayCommand } from './replay-command.ts';
import type { ReplayReport } from './replay-report.ts';

vi.mock('node:fs/promises', { spy: true });

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-replay-'));
  onTestFinished(() => rm(folder, { recursive: true }));
});

const at = (second: number): string => new Date(1_767_225_600_000 + second * 1000).toISOString();

/** Calls of one session, one per second: `x` fails, `.` succeeds. */
const calls = (session: string, story: string, tool = 'crm', hour = 0): string =>
  [...story]
    .map((one, second) => ({
      ...{ session, at: at(hour * 3600 + second), tool, durationMs: 10 },
      ...(one === 'x' ? { error: 'connect ECONNREFUSED 10.0.0.1:5432 secret-token' } : { outcome: 'success' }),
    }))
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('');

const replay = async (content: string, ...flags: readonly string[]) => {
  await writeFile(join(folder, 'calls.jsonl'), content);
  return runCommand((io) => replayCommand(io), [join(folder, 'calls.jsonl'), ...flags]);
};

const reported = async (content: string, ...flags: readonly string[]): Promise<ReplayReport> =>
  JSON.parse((await replay(content, '--json', ...flags)).out);

describe('breakerbox replay', () => {
  test('T6: the table shows what would have opened, calls avoided beside calls lost, and which numbers are measured', async () => {
    const { code, out, err } = await replay(calls('one', 'xxxxx..') + calls('two', '.......'));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('14 calls of 2 sessions in 1 file');
    expect(out).toMatch(/crm +14 +5 +1 +\d+ s +1 to 2 +0 to 2/);
    expect(out).toContain('Failed calls avoided: 1 to 2. Good calls lost: 0 to 2. In 1 session.');
    expect(out).toContain('Of two numbers, the first is measured');
  });

  /** Calls of a tool that all end in this error, each with another input. */
  const failing = (session: string, tool: string, error: string, count: number, hour = 0): string =>
    Array.from({ length: count }, (_, index) => ({
      session,
      at: at(hour * 3600 + index),
      tool,
      input: { q: `${session} ${index}` },
      error,
    }))
      .map((row) => `${JSON.stringify(row)}\n`)
      .join('');

  test('T6: a tool most of whose errors are not counted is named, with the texts only by --show', async () => {
    const recording = failing('one', 'find_order', 'order not found', 6) + calls('two', '.......');
    const page = join(folder, 'page.html');
    const { out } = await replay(recording, '--html', page);
    const row = 'find_order: 6 of 6 calls came back with an error that is not counted (tool_error 6).';
    expect(out).toContain(row);
    expect(await readFile(page, 'utf8')).toContain(row);
    expect(out).not.toContain('order not found');
    expect((await replay(recording, '--show')).out).toMatch(/6 {2}find_order: order not found/);
    const { decisions } = await reported(recording);
    expect(decisions?.tools.find(({ tool }) => tool === 'find_order')?.ignoredErrors).toEqual({ tool_error: 6 });
    expect((await replay(calls('one', 'xxxx'))).out).not.toContain('not counted');
    const hosts = Array.from({ length: 6 }, (_, index) => ({
      ...{ session: 's', at: at(index), tool: 'fetch', input: { url: `https://dead-${index}.example/` } },
      error: `getaddrinfo ENOTFOUND dead-${index}.example`,
    }));
    const keys = await replay(hosts.map((row) => `${JSON.stringify(row)}\n`).join(''));
    expect(keys.out).not.toContain('not counted'); // C14
  });

  test('C14: failures of keys are shown apart from those of the tool, without the names of the keys', async () => {
    const rows = Array.from({ length: 30 }, (_, index) => ({
      ...{ session: 's', at: at(index), tool: 'fetch_url', input: { url: `https://dead-${index}.example/` } },
      error: `getaddrinfo ENOTFOUND dead-${index}.example`,
    }));
    const recording = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    const { out } = await replay(recording + calls('two', '..'));
    expect(out).toMatch(/fetch_url +30 +30 +1 +/);
    expect(out).toContain('fetch_url: 30 of 30 calls, with 30 keys.');
    expect(out).not.toContain('dead-');
    expect((await replay(calls('one', 'xxxx'))).out).not.toContain('the key of a call');
    const { decisions } = await reported(recording);
    expect(decisions?.tools).toMatchObject([{ tool: 'fetch_url', keyFailures: 30, failedKeys: 30, ignoredErrors: {} }]);
  });

  test('O8: the sessions of an agent are those of one process: a tool that never worked opens in each of them', async () => {
    const dead = ['one', 'two', 'three']
      .map((session, hour) => failing(session, 'search', 'the search backend is not configured', 3, hour + 1))
      .join('');
    const { decisions } = await reported(dead);
    expect(decisions?.openings.map(({ session, category }) => `${session} ${category}`)).toEqual([
      'two unusable',
      'three unusable',
    ]);
    expect(decisions?.failedCallsAvoided).toEqual({ measured: 2, atMost: 4 });
    const works = await reported(calls('zero', '.', 'search') + dead);
    expect(works.decisions?.openings).toEqual([]);
  });

  test('T6: a recording without outages opens nothing', async () => {
    expect((await replay(calls('one', '..x....x..'))).out).toContain('Nothing would have opened');
  });

  test('T7: no text of an error is printed without --show', async () => {
    const odd = `${JSON.stringify({ session: 's', at: at(0), tool: 'crm', error: 'gizmo 17 says no' })}\n`;
    const page = join(folder, 'page.html');
    const { out } = await replay(odd + calls('one', 'xxxxx'), '--html', page);
    expect(out + (await readFile(page, 'utf8'))).not.toMatch(/gizmo|secret-token|ECONNREFUSED/);
    expect((await replay(odd, '--show')).out).toMatch(/1 {2}crm: gizmo 0 says no/);
  });

  test('T6: the page is one file with a timeline for each session with rejected calls, and names in it are escaped', async () => {
    const page = join(folder, 'page.html');
    await replay(calls('<b>one</b>', 'xxxxx..') + calls('two', '....'), '--html', page);
    const html = await readFile(page, 'utf8');
    expect(html).toContain('&#60;b&#62;one&#60;/b&#62;');
    expect(html.match(/<details/g)).toHaveLength(1);
    expect(html).toMatch(/class="rejected failure"/);
    expect(html).toMatch(/<dt>good calls lost<\/dt><dd>Rejected calls that had succeeded/);
    expect(html).not.toMatch(/<script|src=|href=|<b>one/);
  });

  test('T1: settings come from a YAML file', async () => {
    const config = join(folder, 'breakerbox.yaml');
    await writeFile(config, 'agent: a\ndefaults:\n  failureThreshold: 2\n');
    const { decisions, config: used } = await reported(calls('one', 'xxxx'), '--config', config);
    expect(used).toEqual({ defaults: { failureThreshold: 2 } });
    expect(decisions?.failedCallsAvoided).toEqual({ measured: 1, atMost: 2 });
  });

  test('T10: limits of the settings: what they would have paused, as text, JSON and page, apart from the other numbers', async () => {
    const config = join(folder, 'breakerbox.yaml');
    const page = join(folder, 'page.html');
    await writeFile(config, 'limits: { calls: 14, tokens: 1000, cost: { amount: 1, currency: USD } }\n');
    const recording = calls('one', `${'.'.repeat(59)}x`) + calls('two', '...');
    const { out } = await replay(recording, '--config', config, '--html', page);
    const row = 'one: calls: reached after call 14 of 60; 46 calls would have been paused';
    const sum =
      'One limit would have been reached. At most 46 calls would have been paused: 45 succeeded, 1 failed. The numbers above do not include them.';
    for (const text of [out, await readFile(page, 'utf8')])
      for (const words of [row, sum]) expect(text).toContain(words);
    expect(out).toContain('The recording has no tokens, so the limit of tokens is never reached.');
    expect(out).toContain('The recording has no cost, so the limit of cost is never reached.');
    expect(out).not.toContain('the limit of calls is never');
    expect(out).toContain('No circuit would have opened');
    expect(out).not.toContain('Good calls lost');
    const { decisions } = await reported(recording, '--config', config);
    expect(decisions?.goodCallsLost).toEqual({ measured: 0, atMost: 0 });
    expect(decisions?.rejected.limit).toMatchObject({
      measured: { success: 1 },
      modelled: { success: 44, failure: 1 },
    });
    expect(decisions?.limits).toMatchObject([{ session: 'one', limit: 'calls', afterCall: 14, calls: 60 }]);
    expect((await replay(recording, '--config', config, '--fail-on', 'limits>0')).code).toBe(1);
    expect((await replay(recording, '--fail-on', 'limits>0')).code).toBe(0);
  });

  test('T10: money of calls and turns counts in the currency of the limit, from JSONL and CSV', async () => {
    const config = join(folder, 'breakerbox.yaml');
    await writeFile(config, 'limits: { cost: { amount: 1, currency: EUR } }\n');
    const rows = [
      { kind: 'step', session: 's', at: at(0), cost: 0.5 },
      { kind: 'step', session: 's', at: at(0), cost: '0.1' },
      ...[1, 2, 3].map((second) => ({ session: 's', at: at(second), tool: 'crm', cost: 0.2 })),
    ];
    const jsonl = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    const csv = [
      'kind,session,at,tool,cost',
      ...rows.map(
        (row) => `${'kind' in row ? row.kind : 'call'},s,${row.at},${'tool' in row ? row.tool : ''},${row.cost}`,
      ),
    ];
    for (const recording of [jsonl, `${csv.join('\n')}\n`]) {
      const { decisions, recording: read } = await reported(recording, '--config', config);
      expect(read.cost).toBeCloseTo(1.2);
      expect(decisions?.limits).toMatchObject([{ limit: 'cost', afterCall: 2, pausedCalls: 1 }]);
    }
  });

  test('T10: tokens of a turn count in the session of the next call, for one agent too', async () => {
    const config = join(folder, 'breakerbox.yaml');
    await writeFile(config, 'limits: { tokens: 1000 }\n');
    const rows = [
      { kind: 'step', session: 's', at: at(0), tokens: 900 },
      ...[1, 2, 3].map((second) => ({ session: 's', at: at(second), tool: 'crm', agent: 'mine', tokens: 60 })),
    ];
    const recording = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    for (const flags of [[], ['--agent', 'mine']]) {
      const { decisions, recording: read } = await reported(recording, '--config', config, ...flags);
      expect(read.tokens).toBe(1080);
      expect(decisions?.limits).toMatchObject([{ limit: 'tokens', afterCall: 2, pausedCalls: 1 }]);
    }
  });

  test('T1: a replay asks no health check of the settings', async () => {
    const asked = vi.fn();
    const server = createServer((_, response) => response.end(asked()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const config = join(folder, 'breakerbox.yaml');
    await writeFile(config, `systemic: { recovery: { healthCheck: { url: 'http://127.0.0.1:${port}' } } }\n`);
    const rows = [...calls('one', 'xxxxx', 'crm', 0), ...calls('one', 'xxxxx', 'mail', 0)].join('').split('\n');
    const { decisions } = await reported(`${rows.toSorted().join('\n').trim()}\n`, '--config', config);
    expect(decisions?.pausedBy.systemic).toBeGreaterThan(0);
    await new Promise((resolve) => server.close(resolve));
    expect(asked).not.toHaveBeenCalled();
  });

  test('T1: settings that cannot work are explained', async () => {
    const config = join(folder, 'breakerbox.yaml');
    await writeFile(config, 'defaults:\n  failureTreshold: 2\n');
    const { code, err } = await replay(calls('one', 'x'), '--config', config);
    expect(code).toBe(2);
    expect(err).toMatch(/failureTreshold.*failureThreshold/s);
  });

  test.each([
    ['lost>0', 'xxxxx..', 1],
    ['lost>0', 'xxx', 0],
    ['lost>2', 'xxxxx..', 0],
    ['openings<1', '..', 1],
    ['pauses>0', 'xxxxx..', 0],
  ])('--fail-on %s of %s exits with %i', async (condition, story, code) => {
    expect((await replay(calls('one', story), '--fail-on', condition)).code).toBe(code);
  });

  test('--fail-on explains a condition that it cannot read', async () => {
    expect(await replay(calls('one', 'x'), '--fail-on', 'losses')).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        "--fail-on is 'losses'. Give one of lost, avoided, openings, pauses, limits, different",
      ),
    });
  });

  test('T4: a sampled recording is refused, unless --allow-incomplete is given', async () => {
    const span = {
      traceId: 't',
      spanId: 'a',
      name: 'execute_tool x',
      startTimeUnixNano: '1700000000000000000',
      traceState: 'ot=th:8',
    };
    const attributes = [{ key: 'gen_ai.operation.name', value: { stringValue: 'execute_tool' } }];
    const text = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ ...span, attributes }] }] }] });
    const refused = await replay(text);
    expect(refused.out).toContain('The replay made no decisions: calls are missing in the recording');
    expect(refused.out).toContain('its spans are sampled');
    expect((await reported(text)).decisions).toBeUndefined();
    expect((await reported(text, '--allow-incomplete')).decisions).toBeDefined();
    expect((await replay(text, '--fail-on', 'lost>0')).code).toBe(2);
  });

  test('T6: each opening and each pause is listed with its time and what it rejected; other rejected calls are counted', async () => {
    const ignored = `${JSON.stringify({ session: 'one', at: at(5), tool: 'crm', outcome: 'ignored' })}\n`;
    const { out } = await replay(calls('one', 'xxxxx') + ignored);
    expect(out).toMatch(/2026-01-01T00:00:02\.010Z +crm +one +network +to the end +2 failed, 1 ignored/);
    expect(out).toContain('Other rejected calls, at most: 1 ignored, 0 without a result.');
    const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((tool) => calls('two', 'x', tool)).join('');
    expect((await replay(six)).out).toMatch(
      /Pauses: .*\n {2}2026-\S+ two: (failure budget|correlated failures), with \d later/,
    );
  });

  test('T6: a circuit is open to the end of its session, not of the recording', async () => {
    const later = `${JSON.stringify({ session: 'later', at: at(9999), tool: 'crm' })}\n`;
    const { decisions } = await reported(calls('one', 'xxxxx') + later);
    expect(decisions?.tools[0]?.openMs).toBe(1990);
  });

  test('T6: a tool with an endless name is one row', async () => {
    const { decisions } = await reported(calls('one', 'xxxxx', 'y'.repeat(100_000)));
    expect(decisions?.tools.map(({ openings, calls: { failure } }) => [openings, failure])).toEqual([[1, 5]]);
  });

  test('T7: a file that is cut off is not quoted', async () => {
    const { err, code } = await replay('[{"task_id":1,"reward":0,"traj":[secret-token', '--format', 'tau-bench');
    expect({ code, err }).toMatchObject({
      code: 2,
      err: expect.stringContaining('it is not JSON. Its end may be missing.'),
    });
    expect(err).not.toContain('secret');
  });

  test.each([
    ['it is empty.', ''],
    ['it is not text in UTF-8.', '\0\u0001{'],
    ['rows whose at is in seconds', `${JSON.stringify({ session: 's', at: 1_767_225_600, tool: 'a' })}\n`],
  ])('a file without calls is explained: %s', async (why, content) => {
    expect(await replay(content)).toMatchObject({ code: 2, err: expect.stringContaining(why) });
  });

  test('--fail-on does not pass a recording that cannot be judged', async () => {
    const broken = join(folder, 'broken.jsonl');
    await writeFile(broken, '');
    expect(await replay(calls('one', 'x'), broken, '--fail-on', 'lost>0')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/--fail-on lost>0 cannot be judged: '.*broken\.jsonl': it is empty\./),
    });
    expect(await replay(calls('one', 'x'), '--fail-on', 'different>0')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Breakerbox did not guard the recorded run.'),
    });
  });

  test.each([[['--fail-on']], [['--format', 'foo', '--fail-on', 'lost>0']], [['--unknown']]])(
    'wrong usage is not mistaken for a condition that is true: %j',
    async (flags) => {
      expect(await replay(calls('one', 'x'), ...flags)).toMatchObject({
        code: 2,
        err: expect.stringContaining('error: '),
      });
      expect((await runCommand((io) => replayCommand(io), [])).code).toBe(2);
    },
  );

  test('--fail-on does not pass a recording that was hardly read', async () => {
    const row = (fields: object): string => `${JSON.stringify({ session: 's', at: at(0), tool: 'crm', ...fields })}\n`;
    const rows = (outcome: string, count: number): string => row({ outcome }).repeat(count);
    expect(await replay(rows('success', 2) + rows('error', 3), '--fail-on', 'lost>0')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/most of its rows were left out \(3\): rows whose outcome is not success, failure or/),
    });
    expect((await replay(rows('success', 3) + rows('error', 2), '--fail-on', 'lost>0')).code).toBe(0);
    expect((await replay(row({ category: 'odd' }).repeat(5), '--fail-on', 'lost>0')).code).toBe(0);
    const starts = [1, 2].map((callId) => row({ kind: 'start', callId })).join('');
    expect(await replay(starts, '--fail-on', 'lost>0')).toMatchObject({
      code: 2,
      err: expect.stringContaining('no call in the recording has a result.'),
    });
  });

  test('files that cannot be read or written are explained by their flag', async () => {
    const page = await replay(calls('one', 'x'), '--html', join(folder, 'none', 'page.html'));
    expect(page).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--html: there is no folder') });
    const config = await replay(calls('one', 'x'), '--config', join(folder, 'none.yaml'));
    expect(config.err).toMatch(/configuration file '.*none\.yaml':\s+file: doesn't exist \(ENOENT\)/);
  });

  test('--html overwrites a page, and nothing else', async () => {
    const recording = calls('one', 'x');
    expect(await replay(recording, '--html', join(folder, 'calls.jsonl'))).toMatchObject({
      ...{ code: 2, out: '' },
      err: expect.stringMatching(/--html: '.*calls\.jsonl' is not an HTML page, so it is not overwritten\./),
    });
    expect(await readFile(join(folder, 'calls.jsonl'), 'utf8')).toBe(recording);
    const inPlaceOfFolder = await replay(recording, '--html', folder);
    expect(inPlaceOfFolder).toMatchObject({ code: 2, out: '', err: expect.stringContaining('is a folder') });
    const page = join(folder, 'page.html');
    for (const _ of [1, 2]) expect((await replay(recording, '--html', page)).code).toBe(0);
  });

  test('T6: the page has the timeline of a late session, and the settings that --grid recommends', async () => {
    const page = join(folder, 'page.html');
    const quiet = Array.from({ length: 2100 }, (_, index) => calls(`quiet ${index}`, '.')).join('');
    await replay(quiet + calls('late', 'xxxxx'), '--html', page);
    const late = await readFile(page, 'utf8');
    expect(late).toMatch(/<summary><code>late<\/code>/);
    expect(late).toContain('The defaults were replayed, so there is nothing to change.');
    await replay(sessions(40, 'xxxxx'), '--html', page, '--grid');
    expect(await readFile(page, 'utf8')).toMatch(/The recommended settings.*&#34;failureThreshold&#34;: 2/s);
  });

  test('T6: a long session is shown around its rejected calls', async () => {
    const page = join(folder, 'page.html');
    await replay(calls('long', `${'.'.repeat(1000)}xxxxx`), '--html', page);
    expect(await readFile(page, 'utf8')).toMatch(/after 600 other calls.*class="rejected failure"/s);
  });

  test('a folder is searched, --agent chooses, and files of other kinds are named', async () => {
    await mkdir(join(folder, 'deep'));
    await writeFile(
      join(folder, 'deep', 'a.jsonl'),
      `${JSON.stringify({ session: 's', at: at(0), tool: 'x', agent: 'one' })}\n`,
    );
    await writeFile(join(folder, 'b.json'), '{}');
    const { out } = await runCommand((io) => replayCommand(io), [folder, '--agent', 'one']);
    expect(out).toContain('1 call of 1 session in 1 file');
    expect(out).toMatch(/1 x unknown format; name it with --format \(.*b\.json\)/);
    const { err, code } = await runCommand((io) => replayCommand(io), [folder, '--agent', 'two']);
    expect({ err, code }).toMatchObject({ code: 2, err: expect.stringContaining('There is no tool call') });
    const unknown = await runCommand((io) => replayCommand(io), [join(folder, 'b.json')]);
    expect(unknown.err).toContain('The format of this file is not known');
  });

  test('a folder that cannot be read is named, and does not stop the replay', async () => {
    const secret = join(folder, 'secret');
    const { readdir: real } = await vi.importActual<{ readdir: (...args: unknown[]) => unknown }>('node:fs/promises');
    const denied = (...args: unknown[]) => {
      if (args[0] === secret) throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
      return real(...args);
    };
    vi.mocked(readdir).mockImplementation((async (...args: unknown[]) => denied(...args)) as unknown as typeof readdir);
    await mkdir(secret);
    await writeFile(join(folder, 'calls.jsonl'), calls('one', 'x'));
    const { code, out } = await runCommand((io) => replayCommand(io), [folder]);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('1 call of 1 session in 1 file') });
    expect(out).toMatch(/1 x reading stopped: it cannot be read \(\w+\)\. .*\(.*secret\)/);
    const judged = await runCommand((io) => replayCommand(io), [folder, '--fail-on', 'lost>0']);
    expect(judged).toMatchObject({ code: 2, err: expect.stringContaining('it cannot be read') });
  });

  test('a path that does not exist is explained', async () => {
    const { err, code } = await runCommand((io) => replayCommand(io), [join(folder, 'none')]);
    expect(code).toBe(2);
    expect(err).toMatch(/There is no file or folder '.*none'\./);
  });
});

describe('T4: OTLP files of one command', () => {
  const attributes = (fields: object) =>
    Object.entries(fields).map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { intValue: `${value}` } : { stringValue: value },
    }));
  const line = (traceId: string, spanId: string, parentSpanId: string, second: number, fields: object): string => {
    const nanos = `${1_767_225_600 + second}000000000`;
    const times = { startTimeUnixNano: nanos, endTimeUnixNano: nanos };
    const span = { traceId, spanId, parentSpanId, name: 'span', ...times, attributes: attributes(fields) };
    return `${JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })}\n`;
  };
  /** Two model calls, two failed calls of a tool, and the span of the agent. It ends last, and is the only one that names the session. */
  const trace = (id: string, from = 0): readonly string[] => [
    line(id, `${id}1`, `${id}f`, from, { 'gen_ai.operation.name': 'chat' }),
    line(id, `${id}2`, `${id}f`, from + 1, {
      'gen_ai.tool.name': 'crm',
      'gen_ai.operation.name': 'execute_tool',
      'error.type': '503',
    }),
    line(id, `${id}3`, `${id}f`, from + 2, { 'gen_ai.operation.name': 'chat' }),
    line(id, `${id}4`, `${id}f`, from + 3, {
      'gen_ai.tool.name': 'crm',
      'gen_ai.operation.name': 'execute_tool',
      'error.type': '503',
    }),
    line(id, `${id}f`, '', from, { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.conversation.id': 'one' }),
  ];
  const replayOtlp = async (...contents: readonly (readonly string[])[]): Promise<ReplayReport> => {
    const paths = contents.map((_, index) => join(folder, `${index}.jsonl`));
    for (const [index, path] of paths.entries()) await writeFile(path, contents[index]?.join('') ?? '');
    return JSON.parse((await runCommand((io) => replayCommand(io), [...paths, '--json'])).out);
  };
  const whole = [...trace('a'), ...trace('b', 10)];

  test.each([1, 2, 3, 4, 6, 8, 9])('T4: a trace that is split over two files after %d spans is one', async (length) => {
    const expected = await replayOtlp(whole);
    expect(expected).toMatchObject({ recording: { sessions: 1, calls: 4, steps: 3, misplaced: 0 } });
    expect(expected.decisions?.tools[0]?.openings).toBe(1);
    for (const parts of [
      [whole.slice(0, length), whole.slice(length)],
      [whole.slice(length), whole.slice(0, length)],
    ]) {
      const { decisions, recording } = await replayOtlp(...parts);
      expect({ decisions, recording: { ...recording, files: [] } }).toEqual({
        decisions: expected.decisions,
        recording: { ...expected.recording, files: [] },
      });
    }
  });

  test('T2: a span that is in the recording twice counts once', async () => {
    const { recording } = await replayOtlp([...whole, ...trace('b', 10)], whole);
    expect(recording).toMatchObject({ sessions: 1, calls: 4, steps: 3, misplaced: 0 });
    expect(recording.outcomes).toMatchObject({ failure: 4, unknown: 0 });
  });
});

/** Sessions with a story each, one after the other in some hours. */
const sessions = (count: number, story: string, hours = 8): string =>
  Array.from({ length: count }, (_, index) =>
    calls(`session ${index}`, story, 'crm', Math.floor((index * hours) / count)),
  ).join('');

describe('T5: --grid', () => {
  test('T5: too few failures support no recommendation, and it says how many are needed', async () => {
    const { grid } = await reported(sessions(4, 'xxxx.'), '--grid');
    expect(grid?.recommended).toBeUndefined();
    expect(grid?.why).toMatch(
      /^Failures of the tuning half: \d+\. .* at least 30 failures, 5 such sessions and 3 such hours, .* Record more runs\./,
    );
  });

  test('T5: one incident supports no recommendation, however many sessions see it', async () => {
    const { grid } = await reported(sessions(40, 'xxxxx', 1), '--grid');
    expect(grid).toMatchObject({ why: expect.stringContaining('Hours with failures: 1.') });
    expect(grid?.recommended).toBeUndefined();
  });

  test('T5: the smallest change that is better in both halves is recommended', async () => {
    const { grid } = await reported(sessions(40, 'xxxxx'), '--grid');
    // A cooldown that did not change is left out: alone it would end probing by steps (P1).
    expect(grid?.recommended).toEqual({ defaults: { failureThreshold: 2 } });
    expect(grid?.rows.find(({ failureThreshold }) => failureThreshold === 2)?.heldOut).toMatchObject({ lost: 0 });
  });

  test('T5, M8: what is recommended can be pasted into a configuration file', async () => {
    const { out } = await replay(sessions(40, 'xxxxx'), '--grid');
    const config = join(folder, 'breakerbox.yaml');
    await writeFile(config, `${/Recommended: (defaults: \{.*?\})\. /.exec(out)?.[1]}\n`);
    expect(loadConfig(config)).toEqual({ defaults: { failureThreshold: 2 } });
  });

  test.each([
    ['profile: fast', 'defaults: { profile: fast }'],
    ['scope: process', 'scope: process'],
  ])('T5: with %s nothing can be compared', async (_, yaml) => {
    const config = join(folder, 'breakerbox.yaml');
    await writeFile(config, yaml);
    const { grid } = await reported(sessions(40, 'xxxxx'), '--grid', '--config', config);
    expect(grid?.recommended).toBeUndefined();
    expect(grid?.why).toMatch(/Set failureThreshold|Use --grid with scope: session/);
  });

  test('T5: settings that lose good calls are not recommended', async () => {
    const { grid } = await reported(sessions(40, 'xx..xx..xx..'), '--grid');
    expect(grid).toMatchObject({
      why: 'No other setting is better in both halves of the sessions. Keep the current one.',
    });
    expect((await replay(sessions(40, 'xx..xx..xx..'), '--grid')).out).toContain('No change is recommended.');
  });
});
