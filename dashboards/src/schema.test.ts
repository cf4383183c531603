import { fileURLToPath } from 'node:url';
import { Ajv, type AnySchema } from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';
import { describe, expect, it } from 'vitest';
import { builtDashboards } from './dashboards.ts';
import { dashboardPanels } from './queries.ts';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** JSON schema of Grafana's types, which lets nothing pass that they don't name. */
const schema = createGenerator({
  path: path('grafana-schema.ts'),
  tsconfig: path('../../tsconfig.json'),
  type: 'GrafanaSchema',
  additionalProperties: false,
  skipTypeCheck: true,
  // Two of the SDK's modules have types of one name.
  expose: 'none',
}).createSchema('GrafanaSchema');

const ajv = new Ajv({ strict: false, allErrors: true, allowUnionTypes: true }).addSchema(
  schema as AnySchema,
  'grafana',
);

/** What is wrong with a value, by the part of the schema at this path; nothing if all is well. */
const faults = (part: string, value: unknown): readonly string[] => {
  const check = ajv.getSchema(`grafana#/definitions/GrafanaSchema/${part}`);
  if (check === undefined) return [`the schema has no ${part}: add this kind of panel to grafana-schema.ts`];
  check(value);
  return (check.errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(' '),
  );
};

interface PanelJson {
  readonly title: string;
  readonly type: string;
  readonly options?: unknown;
  readonly fieldConfig?: { readonly defaults: { readonly custom?: unknown } };
  readonly targets?: readonly unknown[];
}

describe.each(builtDashboards().map(({ uid, json }) => [uid, json] as const))('%s', (_, json) => {
  const panels = dashboardPanels(json) as unknown as readonly PanelJson[];

  it('is a dashboard by Grafana’s schema', () => {
    const { panels: _, ...rest } = json;
    expect(faults('properties/dashboard', rest)).toEqual([]);
  });

  it.each(panels.filter(({ type }) => type === 'row').map((row) => [row.title, row] as const))(
    '%s is a row by it',
    (_title, row) => {
      expect(faults('properties/row', row)).toEqual([]);
    },
  );

  it.each(panels.filter(({ type }) => type !== 'row').map((panel) => [panel.title, panel] as const))(
    '%s has the options, fields and queries of its kind',
    (_title, { targets = [], ...panel }) => {
      const { type, options, fieldConfig } = panel;
      expect(faults('properties/panel', panel)).toEqual([]);
      const kind = `properties/panels/properties/${type}/properties`;
      expect(faults(`${kind}/options`, options ?? {})).toEqual([]);
      expect(faults(`${kind}/custom`, fieldConfig?.defaults.custom ?? {})).toEqual([]);
      for (const target of targets) expect(faults('properties/target', target)).toEqual([]);
    },
  );
});

describe('the schema', () => {
  it('lets nothing pass that Grafana doesn’t know, nor what is of another type', () => {
    expect(faults('properties/dashboard', { titel: 'x' }).join()).toContain('titel');
    expect(faults('properties/dashboard', { schemaVersion: '42' }).join()).toContain('must be number');
    const kind = 'properties/panels/properties/timeseries/properties';
    expect(faults(`${kind}/custom`, { lineWith: 2 }).join()).toContain('lineWith');
    expect(faults(`${kind}/custom`, { drawStyle: 'lines' })).not.toEqual([]);
    expect(faults('properties/panels/properties/no-such/properties/options', {}).join()).toContain('has no');
  });
});
