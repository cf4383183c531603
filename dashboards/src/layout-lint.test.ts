import { describe, expect, it } from 'vitest';
import { builtDashboards } from './dashboards.ts';
import { dashboardPanels } from './queries.ts';
import { drawnBadly, type LintedPanel } from './test-support-layout.ts';

const gridPos = { w: 12, h: 8 };
const timeline = (panel: Partial<LintedPanel>): LintedPanel => ({
  type: 'state-timeline',
  title: 'States',
  gridPos,
  targets: [{ expr: 'topk(5, a)' }],
  options: { perPage: 0 },
  fieldConfig: { defaults: { color: { mode: 'fixed' } } },
  ...panel,
});
const table = (names: readonly string[], overrides: object[]): LintedPanel => ({
  type: 'table',
  title: 'Rows',
  gridPos,
  transformations: [{ id: 'organize', options: { renameByName: Object.fromEntries(names.map((one) => [one, one])) } }],
  fieldConfig: { overrides: overrides as never },
});
const column = (name: string, id: string, value: unknown) => ({
  matcher: { id: 'byName', options: name },
  properties: [{ id, value }],
});
const FILTER_OFF = { matcher: { id: 'byType', options: 'string' }, properties: [{ id: 'filterable', value: false }] };

describe('the dashboards', () => {
  it.each(builtDashboards().map(({ uid, json }) => [uid, json] as const))('%s is drawn well by Grafana', (_, json) => {
    expect(drawnBadly(dashboardPanels(json) as unknown as readonly LintedPanel[])).toEqual([]);
  });
});

describe('the lint', () => {
  it('accepts panels that Grafana draws well', () => {
    const links = column('A', 'links', []);
    expect(drawnBadly([timeline({}), table(['A'], [links, FILTER_OFF])])).toEqual([]);
  });

  it.each([
    ['colours', { fieldConfig: { defaults: { color: { mode: 'thresholds' } } } }, 'draws black bands'],
    ['a pager', { options: { perPage: 20 } }, 'a pager is drawn'],
    ['overlapping labels', { targets: [{ expr: 'topk(20, a)' }] }, '20 bands have room for 12'],
    [
      'the job in labels',
      { targets: [{ expr: 'topk(5, a)', legendFormat: '{{job}} · {{a}}' }] },
      'the job in each label',
    ],
    ['any number of bands', { targets: [{ expr: 'a' }] }, 'has no limit'],
  ])('finds %s of a state timeline', (_, panel, fault) => {
    expect(drawnBadly([timeline(panel)])).toEqual([expect.stringContaining(fault)]);
  });

  it('accepts thresholds if equal values are not merged', () => {
    const options = { perPage: 0, mergeValues: false };
    expect(drawnBadly([timeline({ options, fieldConfig: { defaults: { color: { mode: 'thresholds' } } } })])).toEqual(
      [],
    );
  });

  // The pictures of Grafana 12.4 show which titles were cut, at which width.
  it.each([
    ['Agents', 3, true],
    ['Agents reporting', 3, false],
    ['Out of budget', 4, true],
    ['Paused on budget', 4, false],
    ['Systemic events', 4, false],
    ['Ran out', 2, false],
  ])('says whether the title "%s" fits into %i columns', (title, w, fits) => {
    const faults = drawnBadly([{ type: 'stat', title, gridPos: { w, h: 3 } }]);
    expect(faults).toEqual(fits ? [] : [expect.stringContaining('the title needs')]);
  });

  it('counts the icon of links beside a title', () => {
    const panel = { type: 'stat', title: 'Out of budget', gridPos: { w: 4, h: 3 } };
    expect(drawnBadly([{ ...panel, links: [{}] }])).toHaveLength(1);
  });

  it('finds a number over the time range whose header does not say so', () => {
    const of = (title: string) => ({ type: 'stat', title, gridPos, targets: [{ expr: 'sum(rate(a[$__range]))' }] });
    const row = { type: 'row', title: 'In the time range', gridPos };
    expect(drawnBadly([of('Ran out')])).toEqual([expect.stringContaining('counts over the time range')]);
    expect(drawnBadly([of('Ran out in range')])).toEqual([]);
    expect(drawnBadly([row, of('Ran out')])).toEqual([]);
  });

  it('finds columns that do not fit', () => {
    const names = ['A', 'B', 'C', 'D', 'E'];
    expect(drawnBadly([table(names, [])])).toEqual([expect.stringContaining('need 750 px and have 612')]);
    expect(drawnBadly([table(names, [column('A', 'custom.hidden', true)])])).toEqual([]);
    expect(drawnBadly([table(names, [column('A', 'custom.width', 10)])])).toEqual([]);
  });

  it('finds filter buttons over links', () => {
    expect(drawnBadly([table(['A'], [column('A', 'links', [])])])).toEqual([
      expect.stringContaining('cover the links'),
    ]);
  });

  it('finds a legend of a bar gauge', () => {
    const panel = { type: 'bargauge', title: 'Least', gridPos, options: { legend: { showLegend: true } } };
    expect(drawnBadly([panel])).toEqual([expect.stringContaining('repeats the names')]);
  });
});
