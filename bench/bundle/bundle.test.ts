import { expect, it } from 'vitest';
import { measure } from './measure.ts';
import { costTable, rulesCpu } from './table.ts';

it('measures every dashboard and rule over a history that Prometheus reads, without an error', {
  timeout: 120_000,
}, async () => {
  const found = await measure({ agents: 2, tools: 3 }, { each: false });
  expect(found.series).toBeGreaterThan(2 * 3 * 20);
  expect(found.recorded).toBeGreaterThan(2 * 3 * 10);
  expect([...found.refreshes, ...found.groups].flatMap(({ errors }) => errors)).toEqual([]);
  expect(new Set(found.refreshes.map(({ dashboard }) => dashboard)).size).toBe(4);
  expect(found.refreshes.map(({ view }) => view)).toEqual(expect.arrayContaining(['1 h', '24 h']));
  expect(found.groups.map(({ what }) => what)).toContain('breakerbox.alerts');
  expect(rulesCpu(found)).toBeGreaterThan(0);
  expect(found.memory).toBeGreaterThan(1e6);
  const rows = costTable([found, { ...found, refreshes: [] }]).split('\n');
  expect(rows[0]).toBe('| what | 2 agents | 2 agents |');
  expect(rows).toHaveLength(5 + found.refreshes.length + 1);
  expect(rows.find((row) => row.startsWith('| Fleet overview, 1 h'))).toMatch(/\| [\d.]+ \([\d.]+\) \| – \|$/);
});
