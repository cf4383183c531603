/** BreakerboxCircuitOpen at the intervals that its comment allows, and in the demo's time. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { type RuleFile, type Scale, scaleRules } from '../packages/cli/src/demo/scale-rules.ts';
import { DEMO_SCALE } from '../packages/cli/src/demo/stack-files.ts';
import { runTool } from '../stack/tools.ts';

/** Prometheus runs groups side by side: the alerts see a recorded series at once, or an evaluation late. Both must do. */
const GROUPS = ['breakerbox.recording', 'breakerbox.alerts'];
const RULES = ['breakerbox.recording.yml', 'breakerbox.alerts.yml'];
const UNSCALED: Scale = { factor: 1, leastRangeMs: 0 };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'breakerbox-rules-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a scrape sees of the circuit: open, closed, or nothing, because the target didn't answer. */
type Sample = '1' | '0' | 'stale';

interface Case {
  /** Seconds between two scrapes, and between two evaluations. */
  readonly interval: number;
  readonly scale?: Scale;
  readonly sample: (index: number) => Sample;
  /** Seconds from the start at which the alert must fire, and at which it must not. */
  readonly fires?: readonly number[];
  readonly silent?: readonly number[];
}

/** Runs the rules over 12 minutes of samples by promtool, and looks whether the alert fires at these moments. */
async function check({ interval, scale = UNSCALED, sample, fires = [], silent = [] }: Case): Promise<void> {
  for (const name of RULES) {
    const rules: RuleFile = parse(readFileSync(`${import.meta.dirname}/rules/${name}`, 'utf8'));
    writeFileSync(join(folder, name), stringify(scaleRules(rules, scale)));
  }
  const values = Array.from({ length: 720 / interval }, (_, index) => sample(index)).join(' ');
  const firing = 'count(ALERTS{alertname="BreakerboxCircuitOpen", alertstate="firing"}) or vector(0)';
  const expectation = (at: number, value: number) => ({
    expr: firing,
    eval_time: `${at}s`,
    exp_samples: [{ labels: '{}', value }],
  });
  const series = 'breakerbox_circuits{job="j", gen_ai_agent_name="a", gen_ai_tool_name="t", breakerbox_state="open"}';
  for (const order of [GROUPS, GROUPS.toReversed()]) {
    const test = {
      rule_files: RULES,
      evaluation_interval: `${interval}s`,
      group_eval_order: order,
      tests: [
        {
          interval: `${interval}s`,
          input_series: [{ series, values }],
          promql_expr_test: [...fires.map((at) => expectation(at, 1)), ...silent.map((at) => expectation(at, 0))],
        },
      ],
    };
    writeFileSync(join(folder, 'test.yml'), stringify(test));
    const { code, output } = await runTool('promtool', ['test', 'rules', join(folder, 'test.yml')]);
    expect(code, output).toBe(0);
  }
}

/** Every moment of an evaluation from `from` to `to`, in seconds. */
const every = (interval: number, from: number, to: number): number[] =>
  Array.from({ length: Math.floor((to - from) / interval) + 1 }, (_, index) => from + index * interval);

describe.each([1, 5, 15, 30])('every %i s', (interval) => {
  it('fires after 5 minutes, and resolves within a minute', () =>
    check({
      interval,
      sample: (index) => (index * interval < 420 ? '1' : '0'),
      fires: [300 + interval, 420],
      silent: [300 - interval, 480, 600],
    }));

  it('lives through a missed scrape, and half a minute between two sessions', () =>
    check({
      interval,
      sample: (index) => {
        const second = index * interval;
        if (second === 120) return 'stale';
        return second >= 210 && second < 240 ? '0' : '1';
      },
      fires: every(interval, 300 + interval, 420),
    }));

  it('is silent where one sample in four is open', () =>
    check({ interval, sample: (index) => (index % 4 === 0 ? '1' : '0'), silent: every(interval, 240, 660) }));
});

describe('in the demo’s time, every second', () => {
  const demo = { interval: 1, scale: DEMO_SCALE };

  it('fires 5 to 7 seconds after an opening, and resolves within 3', () =>
    check({
      ...demo,
      sample: (index) => (index >= 10 && index < 20 ? '1' : '0'),
      fires: [17, 18, 19],
      silent: [5, 14, 23, 30],
    }));

  it('lives through a missed scrape', () =>
    check({ ...demo, sample: (index) => (index === 3 ? 'stale' : '1'), fires: every(1, 6, 20) }));

  it('is silent where one sample in four is open', () =>
    check({ ...demo, sample: (index) => (index % 4 === 0 ? '1' : '0'), silent: every(1, 4, 60) }));
});
