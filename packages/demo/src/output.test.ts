import { createBreakerbox } from '@breakerbox/core';
import { report } from '@breakerbox/core/report';
import { expect, test, vi } from 'vitest';
import { createJournal } from './journal.ts';
import { openOutput } from './output.ts';

test('without a terminal, prints the full report of a session that pauses', () => {
  const written: string[] = [];
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  try {
    const journal = createJournal(() => 0);
    openOutput(journal, { json: false, color: false });
    const session = createBreakerbox({ agent: 'agent', tools: { a: {} } }).session({
      id: 's-1',
      budget: { rule: 'strict', failures: 1 },
    });
    session.acquire('a').settle({ error: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) });
    journal.report(report(session, { done: ['reading'] }));
  } finally {
    stdout.mockRestore();
  }
  const lines = written.join('').split('\n');
  expect(lines.slice(0, 4)).toEqual([
    '00:00  agent           pauses, and reports:',
    '',
    '  PAUSED, failure budget: the one failure allowed is used up.',
    expect.stringMatching(/^ {2}agent, session s-1, step 0, /),
  ]);
  expect(lines).toContain('    done:     reading');
  expect(lines).toContain('  Failure budget: 0 of 1 failure left');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
});
