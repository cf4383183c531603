import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createRelayBox } from './relay-box.ts';
import { relaySettings } from './relay-config.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakerbox-relay-config-'));
  onTestFinished(() => rm(folder, { recursive: true }));
});

const file = async (text: string, name = 'breakerbox.yaml'): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
};

describe('M8: the settings of a relay', () => {
  test('M8: without a file, those of the flags, and SIGHUP ends the relay', async () => {
    const { config, follow } = await relaySettings({ agent: 'mine', observe: true }, {});
    expect(config).toEqual({ agent: 'mine', budget: false, loopGuard: false, defaults: { mode: 'observe_only' } });
    expect(follow(createRelayBox(config).box, { err: () => {} })).toBeUndefined();
    expect((await relaySettings({}, { BREAKERBOX_CONFIG: ' ' })).config).toEqual({
      agent: 'mcp',
      budget: false,
      loopGuard: false,
    });
  });

  test('M8: the flag --config wins over BREAKERBOX_CONFIG, and flags win over the file', async () => {
    const one = await file('agent: one\ntools: { search: { mode: forced_open, failureThreshold: 2 } }', 'one.yaml');
    const two = await file('{ "agent": "two" }', 'two.json');
    const env = { BREAKERBOX_CONFIG: two };
    expect((await relaySettings({}, env)).config).toEqual({ agent: 'two', budget: false, loopGuard: false });
    expect((await relaySettings({ config: one }, env)).config.agent).toBe('one');
    expect((await relaySettings({ config: one, agent: 'mine', observe: true }, env)).config).toEqual({
      agent: 'mine',
      budget: false,
      loopGuard: false,
      defaults: { mode: 'observe_only' },
      tools: { search: { failureThreshold: 2 } },
    });
  });

  test('M8, E6: a file that cannot work is an error', async () => {
    const path = await file('tools: { search: { retries: 1 } }');
    await expect(relaySettings({ config: path }, {})).rejects.toThrow(
      /line 1, tools\.search\.retries: is not a setting/,
    );
    await expect(relaySettings({ config: join(folder, 'no.yaml') }, {})).rejects.toThrow(/ENOENT/);
  });

  test('M8, M5: the budget of the file is that of the relay, and its window ends a pause', async () => {
    const path = await file('scope: session\nbudget: { failures: 1, windowMs: 60000 }\nsystemic: false');
    let ms = 0;
    const clock = { now: () => ms, unixNow: () => ms };
    const { config } = await relaySettings({ config: path }, {});
    const { session, beforeDecision, textOf } = createRelayBox({ ...config, clock });
    session.declare('search');
    session.acquire('search').settle({ outcome: 'failure', category: 'network' });
    const permit = session.acquire('search');
    expect(permit.reason).toBe('budget_exhausted');
    expect(textOf(permit)).toContain('at most 1 minute.');
    expect(textOf(permit)).toContain('Calls of the tools of this MCP server are paused:');
    expect(textOf(permit)).toContain('Tools of other servers are not affected.');
    expect(textOf(permit)).not.toMatch(/Do not call any tools|this run/);
    ms += 60_001;
    beforeDecision();
    expect(session.acquire('search').decision).toBe('call');
  });

  test.each([
    ['without a file', undefined, 'call'],
    ['with a file', 'defaults: { failureThreshold: 4 }', 'call'],
    ['with a file that turns the guard on', 'loopGuard: {}', 'skip'],
  ])('M5, O5: the fourth equal call in a row, %s', async (_, text, decision) => {
    const config = text && (await file(text));
    const { session } = createRelayBox((await relaySettings({ config }, {})).config);
    const call = () => session.acquire('run_tests', { input: {} });
    for (let n = 0; n < 3; n += 1) call().settle({ outcome: 'ignored', category: 'tool_error' });
    expect(call().decision).toBe(decision);
  });

  test('M5, M8: a file that turns the loop guard on needs a restart', async () => {
    const path = await file('budget: strict');
    const { config, follow } = await relaySettings({ config: path }, {});
    const lines: string[] = [];
    const reload = follow(createRelayBox(config).box, { err: (text) => lines.push(text) });
    await file('budget: strict\nloopGuard: {}');
    reload?.();
    expect(lines).toEqual([expect.stringMatching(/the settings stay as they were\. .+ loopGuard: has changed/)]);
  });

  test('M8: a reload changes thresholds and texts, keeps what is open, and says what it did', async () => {
    const path = await file('tools: { search: { failureThreshold: 1 } }');
    const { config, follow } = await relaySettings({ config: path, observe: false }, {});
    const { box, session } = createRelayBox(config);
    const lines: string[] = [];
    const reload = follow(box, { err: (text) => lines.push(text) });
    session.acquire('search').settle({ outcome: 'failure', category: 'network' });
    await file('tools: { search: { failureThreshold: 9, fallback: ask the user } }');
    reload?.();
    expect(session.acquire('search')).toMatchObject({ decision: 'skip', reason: 'open' });
    expect(session.acquire('search').message).toContain('ask the user');
    await file('budget: { failures: 2 }');
    reload?.();
    await file('limits: { calls: 2 }');
    reload?.();
    await file('tools: [');
    reload?.();
    expect(session.acquire('search').message).toContain('ask the user');
    expect(lines).toEqual([
      `breakerbox mcp: the settings in '${path}' are in use.\n`,
      expect.stringMatching(
        /^breakerbox mcp: the settings stay as they were\. .+ budget: has changed, but cannot.+\n$/,
      ),
      expect.stringMatching(
        /^breakerbox mcp: the settings stay as they were\. .+ limits: has changed, but cannot.+\n$/,
      ),
      expect.stringMatching(
        /^breakerbox mcp: the settings stay as they were\. .+ line 1, column \d+: is not valid.+\n$/,
      ),
    ]);
  });
});
