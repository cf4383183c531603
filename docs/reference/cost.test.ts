import { expect, test } from 'vitest';
import { costTable, withCost } from './cost.ts';

const rows = [
  { id: 'hand', median: 150 },
  { id: 'hand-context', median: 160 },
  { id: 'acquire', median: 180 },
  { id: 'acquire-message', median: 500 },
  { id: 'guard', median: 1_234 },
  { id: 'guard-message', median: 1_734 },
  { id: 'session', median: 2_048 },
  { id: 'circuit', median: 300 },
  { id: 'start-telemetry', median: 41.26 },
];
const RESULTS = {
  date: '2026-11-21T08:00:00.000Z',
  machine: { cpu: 'Some CPU', node: '24.21.0' },
  cases: [
    'closed/none',
    'closed/metrics',
    'closed/unsampled',
    'closed/sampled',
    'open/none',
    'open/sampled',
    'failure/none',
    'memory/none',
    'scrape/metrics',
  ].map((name) => ({ id: name.split('/')[0] ?? '', sdk: name.split('/')[1] ?? '', rows })),
};

test('results become a table in units that people read', () => {
  const table = costTable(RESULTS);
  expect(table).toContain('| a call that succeeds, no OpenTelemetry SDK | 0.15 µs | 1.2 µs |');
  expect(table).toContain('| a call that is refused, no SDK | 0.18 µs | 1.2 µs |');
  expect(table).toContain('| a session, in memory | 2.0 KiB | – |');
  expect(table).toContain('| a scrape of 200 tools × 5 agents | 41 ms | – |');
  expect(table).toMatch(/Some CPU, Node 24\.21\.0, 2026-11-21\.$/);
});

test('without results it says how to make them, and half of them are refused', () => {
  expect(costTable(undefined)).toContain('npm run bench -- --write');
  expect(() => costTable({ ...RESULTS, cases: [] })).toThrow('has no case closed/none');
});

test('it takes its place in the page, and no other', () => {
  const page = 'before\n<!-- cost:begin -->\nold\n<!-- cost:end -->\nafter\n';
  expect(withCost(page, RESULTS)).toBe(
    `before\n<!-- cost:begin -->\n${costTable(RESULTS)}\n<!-- cost:end -->\nafter\n`,
  );
  expect(() => withCost('nothing', RESULTS)).toThrow('has no <!-- cost:begin -->');
});
