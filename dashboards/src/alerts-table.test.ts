import { readdirSync } from 'node:fs';
import { ALERTS, RUNBOOK_URL, ruleFiles, seconds } from '@breakerbox/alerts';
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
  const shown = ['Severity', 'Agent', 'Tool'];

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

  it('opens what to do for that alert at once, its runbook, as the header says', () => {
    const links = linksOf('Alert: what to do');
    expect(links.map(({ url }) => url.replace(/\$\{__data[^}]*\}/, 'NAME'))).toEqual([`${RUNBOOK_URL}/NAME.md`]);
    expect(columnsIn(links[0]?.url ?? '')).toEqual(['Runbook of the alert']);
    const runbooks = readdirSync(new URL('../../alerts/runbooks', import.meta.url));
    expect(runbooks).toEqual(expect.arrayContaining(ALERTS.map(({ name }) => `${name}.md`)));
  });

  it('on its severity opens the same dashboard as the alert’s own link, for every alert', () => {
    const [{ url } = { url: '' }] = linksOf('Severity');
    expect(url).toMatch(/^\/d\/\$\{__data.fields\["Dashboard of the alert"\]/);
    for (const { name, dashboard } of ALERTS) {
      expect(targets[0]?.expr).toMatch(
        new RegExp(`"link_dashboard", "${dashboard}", "alertname", "[^"]*\\b${name}\\b[^"]*"`),
      );
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
