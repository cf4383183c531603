/** Recorded growth and openings: their sum over a range is what the counters of all processes grew in it, and the tools that opened in it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runTool } from '../../stack/tools.ts';
import { recordingGroups } from '../src/prometheus.ts';
import { RECORDED } from '../src/record.ts';
import { resolved } from '../src/rules.ts';

/** Its group, without the other rules. */
const groupOf = (key: 'charged' | 'opened') =>
  recordingGroups(resolved({}))
    .map(({ name, interval, rules }) => ({
      name,
      interval,
      rules: rules.map(({ rule }) => rule).filter(({ record }) => record === RECORDED[key]),
    }))
    .find(({ rules }) => rules.length > 0);

const labels = (instance: string): string => `{job="j", instance="${instance}", gen_ai_agent_name="a"}`;
const charges = (instance: string): string => `breakerbox_budget_consumed_total${labels(instance)}`;

/** What an expression over the recorded series gives after an hour, of series that are scraped every 15 s. */
const given = async (
  key: 'charged' | 'opened',
  series: Readonly<Record<string, string>>,
  expr: string,
  value: number,
): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-grown-'));
  try {
    writeFileSync(join(folder, 'rules.yml'), JSON.stringify({ groups: [groupOf(key)] }));
    const test = {
      interval: '15s',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        { expr, eval_time: '1h', exp_samples: [{ labels: '{job="j", gen_ai_agent_name="a"}', value }] },
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
])('contains %s', async (_, counters, sum) =>
  given('charged', counters, `sum by (job, gen_ai_agent_name) (sum_over_time(${RECORDED.charged}[1h]))`, sum),
);

const opened = (instance: string): string =>
  `breakerbox_circuit_opened_time_seconds{job="j", instance="${instance}", gen_ai_agent_name="a", gen_ai_tool_name="t", error_type="network"}`;

it.each([
  ['the first opening and a later one, each once', { [opened('i')]: '_x20 900x100 1000x120' }, 2],
  ['one opening of all processes', { [opened('i')]: '_x20 900x220', [opened('k')]: '_x21 900x219' }, 1],
  ['no opening before that of another process', { [opened('i')]: '_x20 900x220', [opened('k')]: '_x80 800x160' }, 1],
  ['none twice after scrapes failed for half an hour', { [opened('i')]: '_x20 900x20 _x120 900x80' }, 1],
  ['no opening that was taken back', { [opened('i')]: '_x20 0x220' }, 0],
])('contains, of tools that opened, %s', async (_, times, value) =>
  given(
    'opened',
    { ...times, 'up{job="j", gen_ai_agent_name="a"}': '1x240' },
    `sum by (job, gen_ai_agent_name) (count_over_time(${RECORDED.opened}[1h])) or up * 0`,
    value,
  ),
);
