/** Recorded growth: its sum over a range is what the counters of all processes grew in it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runTool } from '../../stack/tools.ts';
import { recordingGroups } from '../src/prometheus.ts';
import { RECORDED } from '../src/record.ts';
import { resolved } from '../src/rules.ts';

/** Its group, without the other rules. */
const RULE = recordingGroups(resolved({}))
  .map(({ name, interval, rules }) => ({
    name,
    interval,
    rules: rules.map(({ rule }) => rule).filter(({ record }) => record === RECORDED.charged),
  }))
  .find(({ rules }) => rules.length > 0);

const labels = (instance: string): string => `{job="j", instance="${instance}", gen_ai_agent_name="a"}`;
const charges = (instance: string): string => `breakerbox_budget_consumed_total${labels(instance)}`;

/** The sum of the recorded growth over an hour, of counters that are scraped every 15 s. */
const grownIn = async (counters: Readonly<Record<string, string>>, sum: number): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-grown-'));
  try {
    writeFileSync(join(folder, 'rules.yml'), JSON.stringify({ groups: [RULE] }));
    const expr = `sum by (job, gen_ai_agent_name) (sum_over_time(${RECORDED.charged}[1h]))`;
    const test = {
      interval: '15s',
      input_series: Object.entries(counters).map(([series, values]) => ({ series, values })),
      promql_expr_test: [
        { expr, eval_time: '1h', exp_samples: [{ labels: '{job="j", gen_ai_agent_name="a"}', value: sum }] },
      ],
    };
    const file = join(folder, 'grown.test.yml');
    writeFileSync(file, JSON.stringify({ rule_files: ['rules.yml'], evaluation_interval: '1m', tests: [test] }));
    const { code, output } = await runTool('promtool', ['test', 'rules', file]);
    expect(code, output).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

it.each([
  ['a counter that exists all the time', { [charges('i')]: '0x20 1x20 4x200' }, 4],
  [
    'the first value of a new process, and what a process counted before it ended',
    { [charges('i')]: '_x40 2x10 5x10 stale' },
    5,
  ],
  ['a restart, from the old value and from zero', { [charges('i')]: '0x20 7x40 0x20 2x160' }, 9],
  ['nothing twice after scrapes failed for half an hour', { [charges('i')]: '3x20 _x120 4x100' }, 4],
  ['all processes of an agent', { [charges('i')]: '0x60 1x180', [charges('k')]: '0x90 2x150' }, 3],
])('contains %s', async (_, counters, sum) => grownIn(counters, sum));
