import { describe, it } from 'vitest';
import { proved, type Sample } from './test-support.ts';
import { cameOf, circuits, decided, from, moved, of, one, opened, sessions, TOOL } from './test-support-tool-detail.ts';

describe('time to recovery', () => {
  // Sixty samples, one per minute: over a whole hour, Prometheus 2 would read sixty-one, and Prometheus 3 sixty.
  const hour = { at: '1h', range: '59m59s', rateInterval: '4m' } as const;
  const expr = `round(${of('Mean outage in range')})`;
  const CLOSED_TO_OPEN = moved('closed', 'open');

  it.each<[string, Readonly<Record<string, string>>, number]>([
    ['the length of the one outage', { [circuits('open')]: '0x19 1x5 0x40', [CLOSED_TO_OPEN]: '0x19 1x46' }, 360],
    [
      'the mean of two outages, of 6 and of 12 minutes',
      { [circuits('open')]: '0x9 1x5 0x9 1x11 0x40', [CLOSED_TO_OPEN]: '0x9 1x15 2x50' },
      540,
    ],
    [
      'the same with failed probes in between, which are not new outages',
      {
        [circuits('open')]: '0x19 1x2 0 1x2 0 0x40',
        [circuits('half_open')]: '0x19 0x2 1 0x2 1 0x40',
        [CLOSED_TO_OPEN]: '0x19 1x48',
        [moved('half_open', 'open')]: '0x22 1x45',
      },
      480,
    ],
    [
      'the part inside the range of an outage that began before',
      { [circuits('open')]: '1x10 0x50', [CLOSED_TO_OPEN]: '1x60' },
      600,
    ],
    ['so far, of an outage that continues', { [circuits('open')]: '0x50 1x9', [CLOSED_TO_OPEN]: '0x50 1x9' }, 600],
    [
      'the mean over agents and their instances',
      {
        [circuits('open', from('a'))]: '0x19 1x5 0x40',
        [moved('closed', 'open', from('a'))]: '0x19 1x46',
        [circuits('open', from('b', 'i2'))]: '0x19 2x11 0x40',
        [moved('closed', 'open', from('b', 'i2'))]: '0x19 2x46',
      },
      (360 + 720 + 720) / 3,
    ],
    [
      // The mean of three samples is 1/3: of three minutes, not of the hour.
      'right for an agent that reported for three minutes',
      {
        [circuits('open')]: '_x29 0 1 0 stale',
        [CLOSED_TO_OPEN]: '_x29 0 1 1 stale',
      },
      60,
    ],
    [
      'right across a restart, which ends circuits and resets counters',
      {
        [circuits('open', from('a', 'old'))]: '0x9 1x5 stale',
        [moved('closed', 'open', from('a', 'old'))]: '0x9 1x5 stale',
        [circuits('open', from('a', 'new'))]: '_x17 0x9 1x11 0x30',
        [moved('closed', 'open', from('a', 'new'))]: '_x17 0x9 1x42',
      },
      540,
    ],
    ['0 if nothing was open', { [circuits('open')]: '0x60', [CLOSED_TO_OPEN]: '3x60' }, 0],
    [
      'not longer for a circuit that is forced open',
      { [circuits('open')]: '0x60', [circuits('forced_open')]: '1x60', [CLOSED_TO_OPEN]: '0x60' },
      0,
    ],
  ])('is %s', async (_, samples, value) => {
    await proved({ ...hour, samples, expr, gives: one(value) });
  });

  it('lists agents that are open now first, even for one minute, those that opened last on top', async () => {
    const samples = {
      [circuits('closed', from('a'))]: '0x50 1x10',
      [circuits('open', from('a'))]: '1x50 0x10',
      [circuits('closed', from('b'))]: '1x59 0',
      [circuits('open', from('b'))]: '0x59 1',
      [circuits('closed', from('c'))]: '1x54 0x5',
      [circuits('open', from('c'))]: '0x54 1x5',
      ...Object.fromEntries(
        Object.entries({ a: 300, b: 100, c: 200 }).map(([agent, at]) => [
          `breakerbox_circuit_opened_time_seconds{${from(agent)}, error_type="network"}`,
          `${at}x60`,
        ]),
      ),
    };
    const row = (agent: string) => ({
      labels: `{job="j", gen_ai_agent_name="${agent}", gen_ai_tool_name="t"}`,
      value: 3,
    });
    // promtool ignores the order, so this checks the first row alone and the first two.
    const first = (rows: number): string =>
      of('Agents that use it, in the time range').replace('topk(100,', `topk(${rows},`);
    await proved({ ...hour, samples, expr: first(1), gives: [row('c')] });
    await proved({ ...hour, samples, expr: first(2), gives: [row('c'), row('b')] });
  });

  it('has no value if no agent reports', async () => {
    await proved({ ...hour, samples: { up: '1x60' }, expr, gives: [] });
  });

  it('is shown for each agent and tool', async () => {
    const gives = [
      { labels: '{job="j", gen_ai_agent_name="a", gen_ai_tool_name="t"}', value: 360 },
      { labels: '{job="j", gen_ai_agent_name="b", gen_ai_tool_name="t"}', value: 0 },
    ];
    const samples = {
      [circuits('open', from('a'))]: '0x19 1x5 0x40',
      [moved('closed', 'open', from('a'))]: '0x19 1x46',
      [circuits('open', from('b'))]: '0x60',
      [moved('closed', 'open', from('b'))]: '0x60',
      [circuits('closed', from('a'))]: '1x19 0x5 1x40',
      [circuits('closed', from('b'))]: '1x60',
    };
    await proved({ ...hour, samples, expr: `round(${of('Agents that use it, in the time range', 'H')})`, gives });
  });
});

describe('the current state of a tool', () => {
  const at = '10m';

  it.each<[string, Readonly<Record<string, string>>, number]>([
    ['closed', { [circuits('closed')]: '2x10', [circuits('open')]: '0x10' }, 0],
    ['open if one of many circuits is', { [circuits('closed')]: '9x10', [circuits('open', from('b'))]: '1x10' }, 3],
  ])('is %s', async (_, samples, value) => {
    await proved({ samples, expr: of('State'), at, gives: one(value) });
  });

  const OUT = { [circuits('open')]: '1x10', [opened('server')]: '100x10' };

  it.each<[string, Readonly<Record<string, string>>, number]>([
    ['when it opened', OUT, 100_000],
    ['the same while a probe runs', { [circuits('half_open')]: '1x10', [opened('server')]: '100x10' }, 100_000],
    [
      'the earliest of several',
      {
        [circuits('open')]: '1x10',
        [opened('server')]: '100x10',
        [circuits('open', from('b'))]: '1x10',
        [opened('network', from('b'))]: '160x10',
      },
      100_000,
    ],
    ['the latest opening of one tool of an earlier release', { ...OUT, [opened('timeout')]: '130x10' }, 130_000],
    [
      'the first opening of one tool in several sessions',
      {
        ...OUT,
        [opened('timeout')]: '130x10',
        [opened('timeout')
          .replace('opened', 'unavailable')
          .replace(/, error_type="[^"]*"/, '')]: '70x10',
      },
      70_000,
    ],
    [
      'not the opening of a tool that is closed again',
      { ...OUT, [circuits('open', from('b'))]: '0x10', [opened('network', from('b'))]: '40x10' },
      100_000,
    ],
    [
      '1, forced open, although it opened by itself before',
      { [circuits('forced_open')]: '1x10', [circuits('open')]: '0x10', [opened('server')]: '100x10' },
      1,
    ],
    [
      'the opening by failures, if another circuit is forced open',
      { ...OUT, [circuits('forced_open', from('b'))]: '1x10' },
      100_000,
    ],
    ['2, not known, if no opening was reported', { [circuits('half_open')]: '1x10' }, 2],
    ['0 once it has closed', { [circuits('open')]: '0x10', [opened('server')]: '100x10' }, 0],
    ['0 if it was never open', { [circuits('open')]: '0x10' }, 0],
  ])('says since when it is open: %s', async (_, samples, value) => {
    await proved({ samples, expr: of('Open since'), at, gives: one(value) });
  });

  it.each<[string, Readonly<Record<string, string>>, Sample]>([
    [
      'of the last opening',
      { [opened('server')]: '100x10', [opened('network')]: '160x10', [opened('timeout')]: '130x10' },
      { labels: '{error_type="network"}', value: 160 },
    ],
    [
      'of the tool that is open now, although another opened later and is closed again',
      { ...OUT, [circuits('open', from('b'))]: '0x10', [opened('network', from('b'))]: '160x10' },
      { labels: '{error_type="server"}', value: 100 },
    ],
    ['none yet', { [sessions]: '1x10' }, { labels: '{error_type="none yet"}', value: 0 }],
  ])('names the error %s', async (_, samples, sample) => {
    await proved({ samples, expr: of('Last error'), at, gives: [sample] });
  });

  it('divides failures by calls, and skips by decisions', async () => {
    const samples = {
      [cameOf('success')]: '0+6x10',
      [cameOf('failure')]: '0+1x10',
      [cameOf('failure', from('b'))]: '0+1x10',
      [cameOf('ignored')]: '0+2x10',
      [decided('call')]: '0+10x10',
      [decided('skip')]: '0+20x10',
      [decided('pause', from('b'))]: '0+10x10',
    };
    await proved({ samples, expr: `round(${of('Failed 5m')}, 0.01)`, at, gives: one(0.25) });
    await proved({ samples, expr: `round(${of('Not run 5m')}, 0.01)`, at, gives: one(0.75) });
  });

  it.each([
    ['A', 0.71],
    ['B', 0.17],
  ])(
    'counts the failure rate like the alert, over 5 minutes and 1 hour, without ignored outcomes: %s',
    async (refId, value) => {
      // One success per minute, and twelve failures in the last five minutes.
      const samples = {
        [cameOf('success')]: '0+1x60',
        [cameOf('failure')]: '0x55 0+3x5',
        [cameOf('ignored')]: '0+9x60',
      };
      await proved({ samples, expr: `round(${of('Failure rate', refId)}, 0.01)`, at: '1h', gives: one(value) });
    },
  );

  it.each(['Failed 5m', 'Not run 5m', 'p95 5m', 'Agents in range'])(
    'shows 0 and not NaN without calls: %s',
    async (panel) => {
      const samples = { [sessions]: '1x10', [cameOf('success')]: '5x10', [decided('call')]: '5x10' };
      await proved({ samples, expr: of(panel), at, gives: one(0) });
    },
  );

  it('counts each agent that asked for it once, for any decision', async () => {
    const samples = {
      [decided('call', from('a', 'i1'))]: '0+1x10',
      [decided('call', from('a', 'i2'))]: '0+1x10',
      [decided('skip', from('b'))]: '0+1x10',
      [decided('call', from('c'))]: '7x10',
    };
    await proved({ samples, expr: of('Agents in range'), at, gives: one(2) });
  });

  it('reads p95 from the buckets of all agents', async () => {
    const bucket = (le: string, source = TOOL) => `gen_ai_execute_tool_duration_seconds_bucket{${source}, le="${le}"}`;
    const samples = {
      [bucket('0.1')]: '0+9x10',
      [bucket('0.2')]: '0+9x10',
      [bucket('+Inf')]: '0+9x10',
      [bucket('0.1', from('b'))]: '0x10',
      [bucket('0.2', from('b'))]: '0+1x10',
      [bucket('+Inf', from('b'))]: '0+1x10',
    };
    await proved({ samples, expr: `round(${of('p95 5m')}, 0.001)`, at, gives: one(0.15) });
  });
});
