import { describe, expect, it } from 'vitest';
import { UID } from './links.ts';
import { exprOf, proved } from './test-support.ts';
import { decided, moved, of, one, sessions, TOOL } from './test-support-tool-detail.ts';

describe('the changes of circuits', () => {
  const at = '10m';
  const samples = {
    [moved('closed', 'open')]: '0x5 1x5',
    [moved('open', 'half_open')]: '0x6 2x4',
    [moved('half_open', 'open')]: '0x7 1x3',
    [moved('half_open', 'closed')]: '0x8 1x2',
    [decided('probe')]: '0x6 3x4',
  };

  it('are drawn as one name with both states', async () => {
    const gives = [
      { labels: '{breakerbox_state_from="closed → open", breakerbox_state_to="open"}', value: 1 },
      { labels: '{breakerbox_state_from="open → half_open", breakerbox_state_to="half_open"}', value: 2 },
      { labels: '{breakerbox_state_from="half_open → open", breakerbox_state_to="open"}', value: 1 },
      { labels: '{breakerbox_state_from="half_open → closed", breakerbox_state_to="closed"}', value: 1 },
    ];
    await proved({ samples, expr: of('Transitions'), at, gives });
  });

  it('show none without changes', async () => {
    const quiet = { [sessions]: '1x10', [moved('closed', 'open')]: '4x10' };
    const gives = [{ labels: '{breakerbox_state_from="none"}', value: 0 }];
    await proved({ samples: quiet, expr: of('Transitions'), at, gives });
    await proved({
      samples: quiet,
      expr: of('Openings by agent'),
      at,
      gives: [{ labels: '{gen_ai_agent_name="none"}', value: 0 }],
    });
  });

  it('count an opening between two scrapes, and a failed probe as another opening', async () => {
    const gives = [{ labels: '{gen_ai_agent_name="a"}', value: 2 }];
    await proved({ samples, expr: of('Openings by agent'), at, gives });
  });

  it.each([
    ['A', 1],
    ['B', 1],
    ['C', 3],
  ])('show the results of probes and their number: %s', async (refId, value) => {
    await proved({ samples, expr: of('Probes and how they ended', refId), at, gives: one(value) });
  });
});

describe('where rejected calls went', () => {
  const routes = (labels: string) => `breakerbox_routes_total{${TOOL}, breakerbox_route=${labels}}`;
  // Seven alternatives per minute, four of them of low degradation; nothing was ever deferred.
  const samples = {
    [sessions]: '1x10',
    [routes('"alternative", breakerbox_degradation="low"')]: '0+4x10',
    [routes('"alternative", breakerbox_degradation="high"')]: '0+3x10',
    [routes('"stale"')]: '0+6x10',
  };

  it('is drawn by kind for any degradation, and only for kinds that occurred', async () => {
    const gives = [
      { labels: '{breakerbox_route="alternative"}', value: 70 },
      { labels: '{breakerbox_route="stale"}', value: 60 },
    ];
    await proved({ samples, expr: of('Where rejected calls went'), at: '10m', gives });
  });

  it('is drawn by degradation only for alternatives', async () => {
    const gives = [
      { labels: '{breakerbox_degradation="low"}', value: 40 },
      { labels: '{breakerbox_degradation="high"}', value: 30 },
    ];
    await proved({ samples, expr: of('Alternatives by degradation'), at: '10m', gives });
  });

  it.each([
    ['Where rejected calls went', 'breakerbox_route'],
    ['Alternatives by degradation', 'breakerbox_degradation'],
  ])('shows none without such calls: %s', async (title, label) => {
    const gives = [{ labels: `{${label}="none"}`, value: 0 }];
    await proved({ samples: { [sessions]: '1x10' }, expr: of(title), at: '10m', gives });
  });

  it('is the same query on the failure budget', () => {
    for (const panel of ['Where rejected calls went', 'Alternatives by degradation']) {
      // Tool detail also shows models.
      expect(exprOf(UID.failureBudget, panel).replaceAll(', gen_ai_tool_name!~"(group:)?model:.+"', '')).toBe(
        of(panel),
      );
    }
  });
});
