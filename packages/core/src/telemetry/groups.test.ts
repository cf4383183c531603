import { metrics } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bench, failOnce, trip, UNIX_START } from '../test-support.ts';
import { openSeries, type SeriesReader, scrapedNumbers } from './readers.ts';
import { METRIC } from './semconv.ts';
import { allSeries, createAgentSeries, seriesOf as ownSeries, toolSeries } from './series.ts';
import { newAgent, registerMetrics, seriesOf } from './test-support.telemetry.ts';

let agent = '';
let open: SeriesReader[] = [];
beforeEach(() => {
  agent = newAgent();
});
afterEach(() => {
  for (const one of open) one.close();
  open = [];
  metrics.disable();
});

const inGroup = () => bench({ agent, tools: { a: { group: 'files' }, b: { group: 'files' }, c: {} } });
const OPENED = 'breakerbox_circuit_opened_time';
const UNAVAILABLE = 'breakerbox_circuit_unavailable_time';
const at = (ms: number): number => (UNIX_START + ms) / 1000;

const read = (): string[] => {
  const series = openSeries({ insteadOfSdk: false, exemplars: false });
  open.push(series);
  return [...scrapedNumbers(series, METRIC.openedTime)]
    .filter(({ attributes }) => attributes['gen_ai.agent.name'] === agent)
    .map(({ attributes, value }) => `${attributes['gen_ai.tool.name']} ${attributes['error.type']} ${value}`);
};

describe('C13: the metrics of a group', () => {
  test('they are its circuits, its transitions and the times of its opening', async () => {
    const { scrape } = registerMetrics();
    const { session } = inGroup();
    failOnce(session, 'a');
    const names = (lines: string[]) =>
      lines.filter((line) => line.includes(agent) && line.includes('group:files')).map((line) => line.split('{')[0]);
    expect(new Set(names(await scrape()))).toEqual(new Set(['breakerbox_circuits', 'breakerbox_transitions_total']));
    failOnce(session, 'b');
    failOnce(session, 'a');
    session.acquire('a');
    const lines = await scrape();
    expect(new Set(names(lines))).toEqual(
      new Set(['breakerbox_circuits', 'breakerbox_transitions_total', OPENED, UNAVAILABLE]),
    );
    const ofGroup = (name: string) => seriesOf(agent, lines, name).filter((line) => line.includes('group:files'));
    expect(ofGroup('breakerbox_circuits')).toEqual([
      'breakerbox_circuits{gen_ai_tool_name="group:files",breakerbox_state="closed"} 0',
      'breakerbox_circuits{gen_ai_tool_name="group:files",breakerbox_state="open"} 1',
      'breakerbox_circuits{gen_ai_tool_name="group:files",breakerbox_state="half_open"} 0',
    ]);
    expect(ofGroup('breakerbox_transitions_total')).toEqual([
      'breakerbox_transitions_total{gen_ai_tool_name="group:files",breakerbox_state_from="closed",breakerbox_state_to="open"} 1',
    ]);
    expect(ofGroup(OPENED)).toEqual([`${OPENED}{gen_ai_tool_name="group:files",error_type="network"} ${at(1_000)}`]);
    expect(seriesOf(agent, lines, 'breakerbox_decisions_total')).toContain(
      'breakerbox_decisions_total{gen_ai_tool_name="a",breakerbox_decision="skip",breakerbox_reason="group_open"} 1',
    );
  });

  test('they share maxTools and _OTHER with tools', () => {
    const series = createAgentSeries(agent);
    const first = toolSeries(series, 'group:one', 2, { isGroup: true });
    const tool = toolSeries(series, 'a', 2);
    const second = toolSeries(series, 'group:two', 2, { isGroup: true });
    expect([...series.tools.keys()]).toEqual(['group:one', 'a', '_OTHER']);
    expect(toolSeries(series, 'group:one', 2, { isGroup: true })).toBe(first);
    expect(toolSeries(series, 'b', 2)).toBe(second);
    expect([first, tool, second].map(({ isGroup }) => isGroup)).toEqual([true, false, false]);
  });

  test('C1: a mode that an operator sets has a series from its first use on', () => {
    const series = toolSeries(createAgentSeries(agent), 'group:one', 1, { isGroup: true });
    const states = () => [...allSeries(series, 'circuits')].map(({ attributes }) => attributes['breakerbox.state']);
    expect(states()).toEqual(['closed', 'open', 'half_open']);
    ownSeries(series, 'circuits', 'forced_open').value += 1;
    expect(ownSeries(series, 'circuits', 'forced_open').value).toBe(1);
    expect(states()).toEqual(['closed', 'open', 'half_open', 'forced_open']);
  });
});

describe('C15: when a group opens, the opening of its tool is withdrawn', () => {
  const opens = () => {
    const { session, clock } = inGroup();
    trip(session, 'a');
    clock.advance(2_000);
    return { session, clock };
  };

  test('a scrape no longer has it, until the tool opens again', () => {
    const { session, clock } = opens();
    expect(read()).toEqual([`a network ${at(1_000)}`]);
    failOnce(session, 'b');
    expect(read()).toEqual([`group:files network ${at(3_000)}`]);
    clock.advance(60_000);
    session.acquire('b').settle({ outcome: 'success' });
    trip(session, 'a', 'rate_limit');
    expect(read()).toEqual([`a rate_limit ${at(63_000)}`, `group:files network ${at(3_000)}`]);
  });

  test('an SDK, which drops no series, gets 0', async () => {
    const { scrape } = registerMetrics();
    const { session } = opens();
    await scrape();
    failOnce(session, 'b');
    expect(seriesOf(agent, await scrape(), OPENED)).toEqual([
      `${OPENED}{gen_ai_tool_name="a",error_type="network"} 0`,
      `${OPENED}{gen_ai_tool_name="group:files",error_type="network"} ${at(3_000)}`,
    ]);
  });
});

test('S2: a reason with an unusual decision has its own series, from its first use on', () => {
  const series = toolSeries(createAgentSeries(agent), 'a', 1);
  const systemic = () =>
    [...allSeries(series, 'decisions')].filter(({ attributes }) => attributes['breakerbox.reason'] === 'systemic');
  expect(systemic().map(({ attributes }) => attributes['breakerbox.decision'])).toEqual(['pause']);
  ownSeries(series, 'decisions', 'skip', 'systemic').value += 1;
  expect(ownSeries(series, 'decisions', 'skip', 'systemic').value).toBe(1);
  expect(systemic().map(({ attributes }) => attributes['breakerbox.decision'])).toEqual(['pause', 'skip']);
});
