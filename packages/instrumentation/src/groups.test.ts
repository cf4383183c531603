import { BreakerboxConfigError } from '@breakerbox/core';
import { diag } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';
import { groupOfPrefix, groupsBy, serverOf } from './groups.ts';
import { guard, guardAll, hookedCalls } from './index.ts';
import { currentSession, withSession } from './session.ts';
import { listenToDiag } from './test-support/diagnosed.ts';
import { groupOf, watchedSession } from './test-support/watched-session.ts';

const work = async () => 'done';

afterEach(() => diag.disable());

test.each([
  ['the name of its client', { clientName: 'files' }, 'files'],
  ['none, if no client was named', { clientName: 'ai-sdk-mcp-client' }, undefined],
  ['the name of its server', { serverName: 'files' }, 'files'],
  ['none for a tool that is not of a server', undefined, undefined],
])('C13: the group that a tool brings along is %s', (_, metadata, group) => {
  expect(serverOf({ metadata })).toBe(group);
});

describe('C13: the option group', () => {
  test('of guard is the group of its tool', () => {
    const { session } = watchedSession();
    guard(session, 'read_file', work, { group: 'files' });
    guard(session, 'now', work);
    expect(['read_file', 'now'].map((tool) => groupOf(session, tool))).toEqual(['files', undefined]);
  });

  test('of guard reaches the session that a function returns', async () => {
    const { session } = watchedSession();
    const read = guard(currentSession, 'read_file', work, { group: 'files' });
    await withSession(session, () => read());
    expect(groupOf(session, 'read_file')).toBe('files');
  });

  test('of guardAll is the group of all its tools, or of each by name', () => {
    const { session } = watchedSession();
    guardAll(session, { read_file: work, write_file: work }, { group: 'files' });
    guardAll(session, { fetch: work, now: work }, { group: (tool) => (tool === 'fetch' ? 'web' : undefined) });
    const groups = ['read_file', 'write_file', 'fetch', 'now'].map((tool) => groupOf(session, tool));
    expect(groups).toEqual(['files', 'files', 'web', undefined]);
  });

  test('of hookedCalls is the group of each call; an empty name is no group', () => {
    const { session } = watchedSession();
    const calls = hookedCalls(session);
    calls.acquire({ callId: '1', tool: 'read_file', group: 'files' });
    calls.acquire({ callId: '2', tool: 'now', group: ' ' });
    expect(['read_file', 'now'].map((tool) => groupOf(session, tool))).toEqual(['files', undefined]);
  });

  test('is a hint: the configuration of the tool comes first', () => {
    const { session } = watchedSession({ tools: { read_file: { group: 'disk' }, write_file: { group: false } } });
    guardAll(session, { read_file: work, write_file: work, list_files: work }, { group: 'files' });
    const groups = ['read_file', 'write_file', 'list_files'].map((tool) => groupOf(session, tool));
    expect(groups).toEqual(['disk', undefined, 'files']);
  });

  test('E6: is rejected if it cannot be a name', () => {
    const { session } = watchedSession();
    expect(() => guard(session, 'now', work, { group: ' ' })).toThrow(BreakerboxConfigError);
    expect(() => guard(session, 'now', work, { group: 5 } as never)).toThrow(/options\.group: is 5\. Set a name/);
    expect(() => guardAll(session, { now: work }, { group: [] } as never)).toThrow(
      /or a function that gives the group/,
    );
  });
});

const failing = async (): Promise<never> => {
  throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
};

/** What a call rejects with. */
const rejectionOf = async (call: Promise<unknown>): Promise<unknown> => {
  try {
    return await call;
  } catch (error) {
    return error;
  }
};

describe('a ToolUnavailableError', () => {
  test('C13: of a tool whose group is open names the group, also during a probe', async () => {
    const { session } = watchedSession();
    const never = () => new Promise<never>(() => {});
    const { read, write, list, hang } = guardAll(
      session,
      { read: failing, write: failing, list: work, hang: never },
      { group: 'files' },
    );
    for (const tool of [read, write, read]) await rejectionOf(tool());
    const skipped = { name: 'ToolUnavailableError', tool: 'list', decision: 'skip', route: { kind: 'defer' } };
    expect(await rejectionOf(list())).toMatchObject({
      ...skipped,
      reason: 'group_open',
      message: expect.stringMatching(/^Tool 'list' is unavailable: the tools of group 'files' failed \(network\)/),
    });
    for (let turn = 0; turn < 3; turn += 1) session.step();
    void hang();
    expect(await rejectionOf(list())).toMatchObject({ ...skipped, reason: 'probe_in_flight' });
  });

  test('S2: of a tool of a correlated failure in scope process says skip, and other tools continue', async () => {
    const { session } = watchedSession({ scope: 'process', defaults: { failureThreshold: 1 } });
    const { search, fetch, archive, now } = guardAll(session, {
      search: failing,
      fetch: failing,
      archive: failing,
      now: work,
    });
    for (const tool of [search, fetch, archive]) await rejectionOf(tool());
    expect(await rejectionOf(search())).toMatchObject({
      name: 'ToolUnavailableError',
      decision: 'skip',
      reason: 'systemic',
      message: expect.stringContaining("Tool 'search' is unavailable"),
    });
    expect(await now()).toBe('done');
  });
});

test('E7: a tool of a session that has ended is skipped as before', async () => {
  const { session } = watchedSession();
  const { search } = guardAll(session, { search: failing });
  for (let call = 0; call < 3; call += 1) await rejectionOf(search());
  session.end();
  expect(await rejectionOf(search())).toMatchObject({ decision: 'skip', reason: 'open' });
});

test('E5: a function that throws or returns no name leaves the group that is already known', () => {
  const heard = listenToDiag();
  const throwing = groupsBy(
    () => {
      throw new Error('mine');
    },
    'guardTools()',
    () => 'known',
  );
  expect(throwing('search')).toBe('known');
  expect(heard).toEqual([[expect.stringContaining('group() of guardTools()'), expect.any(Error)]]);
  expect(groupsBy((() => 5) as never, 'guardTools()')('search')).toBeUndefined();
});

test.each([
  ['github.', 'github'],
  ['my-files__', 'my-files'],
  ['größe/', 'größe'],
  ['__', ''],
  ['', ''],
])('the group of prefix %j is %j', (prefix, group) => {
  expect(groupOfPrefix(prefix)).toBe(group);
});
