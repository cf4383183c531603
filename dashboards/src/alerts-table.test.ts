import { ALERTS, ruleFiles, seconds } from '@breakerbox/alerts';
import { describe, expect, it } from 'vitest';
import { LASTING } from './alert-state.ts';
import { finished } from './finish.ts';
import { fleetOverview } from './fleet-overview.ts';
import { dashboardPanels } from './queries.ts';

interface Override {
  readonly matcher: { readonly options: string };
  readonly properties: readonly { readonly id: string; readonly value: unknown }[];
}
interface TableJson {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
  readonly transformations: readonly {
    readonly id: string;
    readonly options: { readonly renameByName?: Readonly<Record<string, string>> };
  }[];
  readonly fieldConfig: { readonly overrides: readonly Override[] };
}

const found = dashboardPanels(finished(fleetOverview())).find(({ title }) => title === 'Firing alerts');
const { targets, transformations, fieldConfig } = found as unknown as TableJson;
const properties = (column: string) =>
  fieldConfig.overrides.find(({ matcher }) => matcher.options === column)?.properties ?? [];
const linksOf = (column: string): readonly { readonly url: string }[] =>
  (properties(column).find(({ id }) => id === 'links')?.value ?? []) as readonly { readonly url: string }[];
const columnsIn = (url: string): readonly string[] =>
  [...url.matchAll(/__data\.fields\["([^"]+)"\]/g)].map(([, column]) => column ?? '');

describe('a click on a firing alert', () => {
  const shown = ['Alert', 'Agent', 'Tool'];

  it.each(shown)('in the column %s reads only hidden columns, which contain no dash', (column) => {
    const read = linksOf(column).flatMap(({ url }) => columnsIn(url));
    expect(read.length).toBeGreaterThan(1);
    const renamed = transformations.find(({ id }) => id === 'organize')?.options.renameByName ?? {};
    for (const name of read) {
      expect(Object.values(renamed)).toContain(name);
      expect(properties(name)).toEqual([
        { id: 'custom.hidden', value: true },
        { id: 'custom.hideFrom', value: { viz: true } },
      ]);
    }
  });

  it('filters Tool detail by job, agent and tool', () => {
    const [{ url } = { url: '' }] = linksOf('Tool');
    expect(columnsIn(url)).toEqual(['Job of the link', 'Agent of the link', 'Tool of the link']);
  });

  it('opens the same dashboard as the alert’s own link, for every alert', () => {
    const [{ url } = { url: '' }] = linksOf('Alert');
    expect(url).toMatch(/^\/d\/\$\{__data\.fields\["Dashboard of the alert"\]/);
    for (const { expr } of targets) {
      for (const { name, dashboard } of ALERTS) {
        expect(expr).toMatch(new RegExp(`"link_dashboard", "${dashboard}", "alertname", "[^"]*\\b${name}\\b[^"]*"`));
      }
    }
  });
});

it('alerts that are kept for long after their trouble are listed as over then', () => {
  const kept = ruleFiles()
    .flatMap(({ text }) => text.split('- alert: ').slice(1))
    .filter((rule) => seconds(/keep_firing_for: (\w+)/.exec(rule)?.[1] ?? '0s') >= 600)
    .map((rule) => rule.split('\n')[0] ?? '');
  expect(kept.length).toBeGreaterThan(3);
  // It is about the last hour, of which a quarter more changes little.
  for (const name of kept) if (name !== 'BreakerboxSpendBurn') expect(Object.keys(LASTING)).toContain(name);
});
