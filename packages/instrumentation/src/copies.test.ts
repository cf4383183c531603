import type { Session } from '@breakerbox/core';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import * as one from './index.ts';
import { withSession } from './session.ts';
import { open, watchedSession } from './test-support/watched-session.ts';

/** Two copies of the package in one process, as two versions in a tree of dependencies make them. */
let two: typeof one;

beforeAll(async () => {
  vi.resetModules();
  two = await import('./index.ts');
});

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const failing = (): Promise<never> => Promise.reject(refused);
const hang = (): Promise<never> => new Promise(() => {});

/** What the next call of a tool is refused with. */
const rejectionBy = async (copy: typeof one, session: Session): Promise<unknown> => {
  const down = copy.guard(session, 'down', failing);
  await expect(down()).rejects.toBe(refused);
  return down().catch((error) => error);
};

const fragile = { defaults: { failureThreshold: 1 } };

describe('a rejection', () => {
  test('of one copy is recognised by the other', async () => {
    const ours = await rejectionBy(one, watchedSession(fragile).session);
    const theirs = await rejectionBy(two, watchedSession(fragile).session);
    for (const error of [ours, theirs]) {
      expect(error instanceof one.ToolUnavailableError).toBe(true);
      expect(error instanceof two.ToolUnavailableError).toBe(true);
      expect(error).toBeInstanceOf(Error);
    }
  });

  test.each([['one'], ['two']])(
    'B3: that a tool receives inside a tool costs nothing, whichever copy guards it (%s)',
    async (outermost) => {
      const { session, outcomes } = watchedSession(fragile);
      const [outside, inside] = outermost === 'one' ? [one, two] : [two, one];
      const rejection = await rejectionBy(inside, session);
      const research = outside.guard(session, 'research', () => Promise.reject(rejection));
      await expect(research()).rejects.toBe(rejection);
      expect(outcomes).toEqual(['down: failure, network', 'research: ignored, denied']);
    },
  );

  test('is not an instance of a derived class, and a derived one is an instance of its base', async () => {
    class OwnError extends one.ToolUnavailableError {}
    const { session } = watchedSession(fragile);
    const rejection = await rejectionBy(one, session);
    expect(rejection instanceof OwnError).toBe(false);
    const own = new OwnError(session.acquire('down') as ConstructorParameters<typeof OwnError>[0]);
    expect([own instanceof OwnError, own instanceof one.ToolUnavailableError]).toEqual([true, true]);
  });
});

test('a function that the other copy guards is called as an alternative', async () => {
  const { session } = watchedSession({
    ...fragile,
    tools: {
      web: { alternatives: [{ tool: 'news', degradation: 'low', adapt: (input: unknown) => input }] },
      news: {},
    },
  });
  const news = two.guard(session, 'news', async (topic: string) => ({ topic }));
  const web = one.guard(session, 'web', failing as (topic: string) => Promise<never>, { alternatives: { news } });
  open({ session }, 'web');
  expect(await web('storms')).toMatchObject({ topic: 'storms', note: expect.stringContaining("answered by 'news'") });
});

test('the other copy does not guard a tool that one copy guards for a session', () => {
  const { session } = watchedSession();
  const search = one.guard(session, 'search', () => 1);
  expect(() => two.guard(session, 'search', search)).toThrow(/guarded for this session already/);
});

test('B3: a timeout of one copy cuts off the inner calls of the other, which are not late themselves', async () => {
  const { session, outcomes } = watchedSession();
  const search = two.guard(session, 'search', hang);
  const research = one.guard(session, 'research', (q: string, { signal }) => search(q, { signal }), { timeoutMs: 5 });
  await expect(research('q')).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(outcomes.toSorted()).toEqual(['research: failure, timeout', 'search: ignored, cancelled']);
});

test('the session of withSession is the current one for both copies', async () => {
  const { session } = watchedSession();
  const { currentSession } = await import('./session.ts');
  const search = two.guard(currentSession, 'search', () => 'found');
  expect(await withSession(session, () => search(1))).toBe('found');
  expect(session.peek('search')).toBeDefined();
});

test('copies share state on globalThis under names that end in a version', () => {
  const ours = Object.getOwnPropertySymbols(globalThis).flatMap(({ description = '' }) =>
    description.startsWith('@breakerbox/instrumentation/') ? [description] : [],
  );
  expect(ours).toContain('@breakerbox/instrumentation/session/1');
  expect(ours.filter((name) => !/\/\d+$/.test(name))).toEqual([]);
});
