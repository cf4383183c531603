import { createBreakerbox, type Session } from '@breakerbox/core';
import { expect, test } from 'vitest';
import { decidingCircuit } from './demo-status.ts';

const down = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
const tools = { list_issues: { group: 'github' }, read_file: { group: 'github' }, web_search: {} };

/** The circuit that decides, and its state. */
const deciding = (session: Session, tool: string): readonly [string, string] | undefined => {
  const circuit = decidingCircuit(session.view().circuits, tool);
  return circuit && [circuit.tool, circuit.state];
};

const started = (): Session => {
  const session = createBreakerbox({ agent: 'agent', tools }).session();
  for (const tool of ['list_issues', 'read_file']) session.acquire(tool).settle({ outcome: 'success' });
  return session;
};

test('C15: while a group is open, its circuit decides for all of its tools', () => {
  const session = started();
  for (const tool of ['list_issues', 'read_file', 'list_issues']) session.acquire(tool).settle({ error: down });
  expect(deciding(session, 'list_issues')).toEqual(['group:github', 'open']);
  expect(deciding(session, 'read_file')).toEqual(['group:github', 'open']);
});

test('a tool without a group, or in a closed group, is decided by its own circuit', () => {
  const session = started();
  for (let n = 0; n < 3; n += 1) session.acquire('read_file').settle({ error: down });
  session.acquire('web_search').settle({ outcome: 'success' });
  expect(deciding(session, 'list_issues')).toEqual(['list_issues', 'closed']);
  expect(deciding(session, 'read_file')).toEqual(['read_file', 'open']);
  expect(deciding(session, 'web_search')).toEqual(['web_search', 'closed']);
});

test('a tool that the session has not used has no circuit', () => {
  expect(deciding(started(), 'web_search')).toBeUndefined();
});

test('C1: a disabled group decides no call, and a group that is forced open decides all calls', () => {
  const session = started();
  session.control('group:github', 'disabled');
  expect(deciding(session, 'read_file')).toEqual(['read_file', 'closed']);
  session.control('group:github', 'forced_open');
  expect(deciding(session, 'read_file')).toEqual(['group:github', 'forced_open']);
});
