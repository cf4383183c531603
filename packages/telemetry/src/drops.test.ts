import { diag } from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { countDrops } from './drops.ts';
import { collectDiag } from './test-support/diag-messages.ts';

afterEach(() => diag.disable());

test('reports at once, and then once a minute what was dropped since', () => {
  const messages = collectDiag();
  let now = 0;
  const drops = countDrops('spans', () => now);
  const reports = (): string[] => messages.map((message) => /dropped (\d+ spans)/.exec(message)?.[1] ?? message);
  drops.add(512);
  drops.add(512);
  now = 59_999;
  drops.add(512);
  expect(reports()).toEqual(['512 spans']);
  now = 60_000;
  drops.add(1);
  expect(reports()).toEqual(['512 spans', '1025 spans']);
  drops.add(7);
  expect([drops.take(), drops.take()]).toEqual([7, 0]);
});
