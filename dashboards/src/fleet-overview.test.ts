import { describe, expect, it } from 'vitest';
import { finished } from './finish.ts';
import { fleetOverview } from './fleet-overview.ts';
import { DEFAULT_SETTINGS } from './limits.ts';
import { COLOUR } from './palette.ts';
import { dashboardPanels } from './queries.ts';

interface PanelJson {
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly gridPos: { readonly y: number; readonly h: number };
}

const panels = dashboardPanels(finished(fleetOverview())) as unknown as readonly PanelJson[];

/** What fits into a window of 1600 by 900 pixels when Grafana's menus are hidden. */
const ROWS_OF_A_SCREEN = 23;

describe('the fleet overview', () => {
  it('is one screen', () => {
    expect(Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h))).toBeLessThanOrEqual(ROWS_OF_A_SCREEN);
    expect(panels.filter(({ type }) => type !== 'stat').length).toBeLessThanOrEqual(10);
    expect(panels.filter(({ type }) => type === 'row')).toEqual([]);
  });

  it('is red only where a person should act', () => {
    const red = panels.filter((panel) => JSON.stringify(panel).includes(COLOUR.vermilion)).map(({ title }) => title);
    expect(red).toEqual([
      'Agents vanished',
      'Paused on budget',
      'Paused as systemic',
      'Failure budget left',
      'Firing alerts',
      'Agents',
      'Decisions by kind',
      'Why calls were not made',
    ]);
  });

  it('draws its thresholds where the alerts have theirs', () => {
    const own = { ...DEFAULT_SETTINGS, errorRatio: 0.4, absentLeastReported: '30m' };
    const named = (title: string): string =>
      JSON.stringify(dashboardPanels(finished(fleetOverview(own))).find((panel) => panel.title === title));
    expect(named('Failure rate by tool')).toContain('"value":0.4');
    expect(named('Agents vanished')).toMatch(/at least 30 minutes.* >= 30 unless/);
    expect(named('Agents')).toContain('>= 30 unless');
  });
});
