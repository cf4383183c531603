import { describe, it } from 'vitest';
import { UID } from './links.ts';
import { exprOf, proved } from './test-support.ts';

const PAGE = UID.correlatedFailures;

const from = (instance: string, agent = 'a'): string => `job="j", instance="${instance}", gen_ai_agent_name="${agent}"`;
const up = (instance: string, agent?: string): string => `breakerbox_fleet_up{${from(instance, agent)}}`;
const read = (instance: string): string => `breakerbox_fleet_read_time_seconds{${from(instance)}}`;
const circuits = (instance: string, tool: string, state: string, agent?: string): string =>
  `breakerbox_circuits{${from(instance, agent)}, gen_ai_tool_name="${tool}", breakerbox_state="${state}"}`;
const probes = (instance: string, tool: string, agent?: string): string =>
  `breakerbox_decisions_total{${from(instance, agent)}, gen_ai_tool_name="${tool}", breakerbox_decision="probe", breakerbox_reason="probe_due"}`;
const total = (value: number) => [{ labels: '{}', value }];

describe('the store of shared circuits', () => {
  it('is there for the processes that it answers, and a process with several agents is one', async () => {
    const samples = { [up('1')]: '1x10', [up('2')]: '1x5 0x5', [up('2', 'b')]: '1x10', [up('3')]: '1x10' };
    await proved({ samples, expr: exprOf(PAGE, 'Processes with the store'), at: '10m', gives: total(2) });
    await proved({ samples, expr: exprOf(PAGE, 'Processes without it'), at: '10m', gives: total(1) });
    await proved({ samples, expr: exprOf(PAGE, 'Processes without it'), at: '3m', gives: total(0) });
  });

  it('has no number without a fleet', async () => {
    const samples = { [circuits('1', 't', 'open')]: '1x10' };
    for (const panel of [
      'Processes with the store',
      'Processes without it',
      'Last answer of the store',
      'Records ignored 1h',
    ])
      await proved({ samples, expr: exprOf(PAGE, panel), at: '10m', gives: [] });
  });

  it('G11: counts the records that were ignored, and 0 before the first', async () => {
    const ignored = `breakerbox_fleet_ignored_total{${from('1')}}`;
    const expr = exprOf(PAGE, 'Records ignored 1h');
    await proved({ samples: { [up('1')]: '1x10' }, expr, at: '10m', gives: total(0) });
    await proved({ samples: { [up('1')]: '1x10', [ignored]: '_x4 3 3 5x4' }, expr, at: '10m', gives: total(5) });
  });

  it('G7: answered as long ago as its last answer was when Prometheus read it, and 0 is no answer', async () => {
    const samples = { [read('1')]: '0+60x10', [read('2')]: '180x10', [read('3')]: '0x10' };
    const expr = exprOf(PAGE, 'Last answer of the store');
    await proved({ samples, expr, at: '10m', gives: total(420) });
    // Between two scrapes, it grows no older.
    await proved({ samples, expr, at: '10m30s', gives: total(420) });
  });
});

describe('shared circuits', () => {
  const fleet = { [up('1')]: '1x10', [up('2')]: '1x10', [up('3')]: '1x10' };

  it('G3: are open in at least two processes of an agent that has a fleet', async () => {
    const samples = {
      ...fleet,
      [circuits('1', 't', 'open')]: '1x10',
      [circuits('2', 't', 'half_open')]: '1x10',
      [circuits('3', 't', 'closed')]: '1x10',
      // The outage of one process, in two sessions.
      [circuits('1', 'u', 'open')]: '2x10',
      [circuits('2', 'u', 'open')]: '0x10',
      [circuits('2', 'u', 'closed')]: '1x10',
      [circuits('1', 't', 'open', 'alone')]: '1x10',
      [circuits('2', 't', 'open', 'alone')]: '1x10',
    };
    const labels = '{job="j", gen_ai_agent_name="a", gen_ai_tool_name="t"}';
    const [openIn, of] = ['A', 'B'].map((refId) => exprOf(PAGE, 'Tools that are open in several processes', refId));
    await proved({ samples, expr: openIn ?? '', at: '10m', gives: [{ labels, value: 2 }] });
    await proved({ samples, expr: of ?? '', at: '10m', gives: [{ labels, value: 3 }] });
  });

  it('G4: are probed by one process, which has the half-open circuit', async () => {
    const samples = {
      ...fleet,
      [circuits('1', 't', 'half_open')]: '0x10',
      [circuits('2', 't', 'half_open')]: '0x8 1 1',
      [probes('1', 't')]: '0x4 1x6',
      [probes('2', 't')]: '0x6 2x4',
      [probes('3', 't')]: '0x10',
      [probes('1', 't', 'alone')]: '0x4 1x6',
    };
    const row = (instance: string, value: number) => ({
      labels: `{job="j", instance="${instance}", gen_ai_agent_name="a", gen_ai_tool_name="t"}`,
      value,
    });
    const [probed, holds] = ['A', 'B'].map((refId) => exprOf(PAGE, 'Probes by process', refId));
    await proved({ samples, expr: probed ?? '', at: '10m', gives: [row('1', 1), row('2', 2)] });
    await proved({ samples, expr: holds ?? '', at: '10m', gives: [row('2', 1)] });
  });
});
