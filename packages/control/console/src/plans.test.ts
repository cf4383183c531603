import { expect, test } from 'vitest';
import type { LimitState, SessionState } from '../../src/schema.ts';
import type { LiveSession } from './overview.ts';
import { planOf } from './plans.ts';

const LIMIT: LimitState = {
  limit: 'calls',
  session: 'helper',
  size: 10,
  used: 8,
  underWay: 0,
  estimated: 0,
  reserved: 0,
  mode: 'pause',
};

test('A3, D1: the console extends the sub-agent whose button was pressed, by its path', () => {
  const session = { id: 'run-1' } as SessionState;
  const live = { agent: 'a', endpoint: { id: 'e' }, session } as LiveSession;
  const plan = planOf({ kind: 'extend', sessions: [live], limit: LIMIT, path: 'run-1/writer/helper' });
  expect(plan.title).toContain('sub-agent run-1/writer/helper');
  expect(plan.actions({ amount: 5, reason: '', expiresInMs: 0, session: '' })).toMatchObject([
    { action: { action: 'extend', session: 'run-1/writer/helper', by: 5, size: 10 } },
  ]);
});
