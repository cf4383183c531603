import { describe, it } from 'vitest';
import { proved, SOURCE } from './test-support.ts';
import { cameOf, circuits, decided, moved, of, one, opened, sessions } from './test-support-tool-detail.ts';
import { GROUP_NOTE } from './zeros.ts';

const GROUP = `${SOURCE}, gen_ai_tool_name="group:files"`;
const at = '10m';

describe('a group that is selected alone', () => {
  const samples = {
    [sessions]: '1x10',
    [circuits('closed', GROUP)]: '1x2 0x8',
    [circuits('open', GROUP)]: '0x2 1x8',
    [circuits('half_open', GROUP)]: '0x10',
    [moved('closed', 'open', GROUP)]: '0x2 1x8',
    [moved('open', 'half_open', GROUP)]: '0x4 2x6',
    [moved('half_open', 'open', GROUP)]: '0x4 2x6',
    [opened('network', GROUP)]: '_x2 100x8',
  };

  it.each<[string, string, number]>([
    ['State', 'A', 3],
    ['Open since', 'A', 100_000],
    ['Agents in range', 'A', 1],
    ['Probes and how they ended', 'A', 0],
    ['Probes and how they ended', 'B', 2],
    ['Probes and how they ended', 'C', 2],
  ])('shows the values of its circuit: %s %s', async (panel, refId, value) => {
    await proved({ samples, expr: of(panel, refId), at, gives: one(value) });
  });

  it.each(['Failed 5m', 'Not run 5m', 'p95 5m'])('refers to its tools for %s', async (panel) => {
    await proved({ samples, expr: of(panel), at, gives: one(-1) });
  });

  it.each([
    ['Decisions', 'breakerbox_decision'],
    ['Why calls were not run', 'breakerbox_reason'],
    ['Outcomes', 'breakerbox_outcome'],
    ['Error categories', 'error_type'],
    ['Where rejected calls went', 'breakerbox_route'],
    ['Pre-call checks by answer', 'breakerbox_availability'],
  ])('says that it has no calls for %s', async (panel, label) => {
    await proved({ samples, expr: of(panel), at, gives: [{ labels: `{${label}="${GROUP_NOTE}"}`, value: 0 }] });
  });

  it('changes nothing if a tool is selected too', async () => {
    const tool = { [circuits('closed')]: '1x10', [decided('call')]: '0+60x10', [cameOf('success')]: '0+60x10' };
    const both = { ...samples, ...tool };
    await proved({ samples: both, expr: of('Failed 5m'), at, gives: one(0) });
    await proved({ samples: both, expr: of('Not run 5m'), at, gives: one(0) });
    await proved({
      samples: both,
      expr: of('Decisions'),
      at,
      gives: [{ labels: '{breakerbox_decision="call"}', value: 1 }],
    });
    await proved({
      samples: both,
      expr: of('Error categories'),
      at,
      gives: [{ labels: '{error_type="none"}', value: 0 }],
    });
    await proved({ samples: both, expr: of('Agents in range'), at, gives: one(1) });
  });
});

describe('an opening that was taken back', () => {
  it('does not count: neither now, nor as the last error', async () => {
    const samples = {
      [sessions]: '1x10',
      [circuits('closed')]: '1x10',
      [circuits('open')]: '0x10',
      [opened('network')]: '100x4 0x6',
    };
    await proved({ samples, expr: of('Last error'), at, gives: [{ labels: '{error_type="none yet"}', value: 0 }] });
    await proved({ samples, expr: of('Open since'), at, gives: one(0) });
  });
});
