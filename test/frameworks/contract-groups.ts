import type { ScriptedStep } from '@breakerbox/scripted-models/script';
import { expect, vi } from 'vitest';
import { watchedSession } from '../../packages/instrumentation/src/test-support/watched-session.ts';
import { ask, refusedConnection, type Suite } from './contract-suite.ts';
import type { ToolBody } from './harness.ts';

const servers = { read: 'files', write: 'files', list: 'files', news: 'web' };

/** A tool of a server that works again after so many calls of its tools. */
const backAfter = (failures: number): ToolBody => {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls <= failures) throw refusedConnection();
    return 'found';
  };
};

/** A session, and each of its decisions with the reason. */
const reasoned = () => {
  const watched = watchedSession();
  const reasons: string[] = [];
  watched.box.on('decision', ({ tool, decision, reason }) => reasons.push(`${tool}: ${decision}, ${reason}`));
  const groupState = () => watched.session.view().circuits.find(({ tool }) => tool === 'group:files')?.state;
  return { ...watched, reasons, groupState };
};

const opening: readonly ScriptedStep[] = [[ask('a', 'read')], [ask('b', 'write')], [ask('c', 'read')]];
const opened = ['read: call, closed', 'write: call, closed', 'read: call, closed'];

/** C13: how failures of one tool affect the other tools of its server. */
export const groups = ({ run, testIf }: Suite): void => {
  testIf(
    ['groups'],
    'C13: when two tools of a server fail, its third is skipped, and tools of other servers continue',
    async () => {
      const watched = reasoned();
      const down = backAfter(Number.POSITIVE_INFINITY);
      const list = vi.fn(async () => 'found');
      const { text, heard } = await run({
        session: watched.session,
        tools: { read: down, write: down, list, news: async () => 'the news' },
        servers,
        script: [...opening, [ask('d', 'list')], [ask('e', 'news')], 'Done.'],
      });
      expect(text).toBe('Done.');
      expect(list).not.toHaveBeenCalled();
      expect(heard[3]).toMatch(/'list' is unavailable/);
      expect(heard[4]).toContain('the news');
      expect(watched.reasons).toEqual([...opened, 'list: skip, group_open', 'news: call, closed']);
      expect(watched.groupState()).toBe('open');
      expect(['read', 'write'].map((tool) => watched.session.peek(tool)?.state)).toEqual(['closed', 'closed']);
    },
  );

  testIf(['groups', 'steps'], 'C13: one probe covers all tools of the server', async () => {
    const watched = reasoned();
    const down = backAfter(3);
    const { text, heard } = await run({
      session: watched.session,
      tools: { read: down, write: down, list: down },
      servers,
      script: [
        ...opening,
        [ask('d', 'list')],
        [ask('e', 'write')],
        [ask('f', 'list')],
        [ask('g', 'read')],
        [ask('h', 'write')],
        'Done.',
      ],
    });
    expect(text).toBe('Done.');
    expect(watched.reasons).toEqual([
      ...opened,
      'list: skip, group_open',
      'write: skip, group_open',
      'list: probe, group_probe_due',
      'read: call, closed',
      'write: call, closed',
    ]);
    expect(heard.slice(5)).toEqual(Array(3).fill(expect.stringContaining('found')));
    expect(watched.groupState()).toBe('closed');
  });
};
