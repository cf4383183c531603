import { expect, test } from 'vitest';
import { costTable, withCost } from './cost.ts';

const same = (id: string, median: number) => ({ id, median, p25: median, p75: median });
const rows = [
  same('hand', 150),
  same('hand-context', 160),
  same('acquire', 180),
  same('acquire-message', 500),
  { id: 'guard', median: 1_234, p25: 1_200, p75: 1_300 },
  same('guard-message', 1_734),
  same('session-one', 2_348),
  same('session-used', 8_000),
  same('start-telemetry', 41.26),
];
const RESULTS = {
  date: '2026-11-21T08:00:00.000Z',
  machine: { cpu: 'Some CPU', node: '24.21.0' },
  cases: [
    'closed/none',
    'closed/metrics',
    'closed/metrics-own-sdk',
    'closed/unsampled',
    'closed/sampled',
    'open/none',
    'open/sampled',
    'failure/none',
    'failure/sampled',
    'memory/none',
    'scrape/metrics',
  ].map((name) => ({ id: name.split('/')[0] ?? '', sdk: name.split('/')[1] ?? '', rows })),
};

test('results become a table in units that people read', () => {
  const table = costTable(RESULTS);
  expect(table).toContain('| a call that succeeds, no OpenTelemetry SDK | 0.15 µs | 0.16 µs | 1.2 µs |');
  expect(table).toContain('| a call that is refused, no SDK | 0.18 µs | – | 1.2 µs |');
  expect(table).toContain('- a session in memory: with one tool in use 2.3 KiB, with 20 tools 7.8 KiB\n');
  expect(table).toContain('- a scrape of 200 tools × 5 agents: 41 ms\n');
  expect(table).toMatch(/Some CPU, Node 24\.21\.0, 2026-11-21\.$/);
});

test('a figure has no digit more than its spread leaves standing', () => {
  const noisy = rows.map((row) => (row.id === 'guard' ? { ...row, p25: 1_000, p75: 2_100 } : row));
  const table = costTable({ ...RESULTS, cases: RESULTS.cases.map((one) => ({ ...one, rows: noisy })) });
  expect(table).toContain('| a call that succeeds, no OpenTelemetry SDK | 0.15 µs | 0.16 µs | 1 µs |');
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
