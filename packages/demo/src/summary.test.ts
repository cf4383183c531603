import { expect, test } from 'vitest';
import { report } from './demo-report.ts';
import { createJournal } from './journal.ts';
import { noStack } from './stack.ts';
import { summary } from './summary.ts';

const done = (messages: Parameters<typeof report>[0]['watch']['messages']) =>
  report({
    startedAt: new Date(0),
    journal: createJournal(() => 0),
    watch: { delivered: [], inhibited: [], messages } as unknown as Parameters<typeof report>[0]['watch'],
    urls: { metrics: null, prometheus: null, alertmanager: null },
    stack: noStack('off', 'off'),
  });

test('shows the latest message as the operator read it', () => {
  const message = (atMs: number, title: string) => ({
    atMs,
    title,
    text: '1 firing\n• it is out',
    link: '',
    color: '',
  });
  const text = summary(done([message(5000, 'Warning: one'), message(65_000, 'Critical: another')]));
  expect(text).toContain(
    [
      '  messages      2 sent to people. The latest, at 01:05:',
      '',
      '    Critical: another',
      '      1 firing',
      '      • it is out',
      '',
    ].join('\n'),
  );
  expect(text).not.toContain('Warning: one');
});

test('does not mention messages if none were sent', () => {
  expect(summary(done([]))).not.toContain('messages');
});
