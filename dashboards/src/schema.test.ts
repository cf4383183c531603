import { fileURLToPath } from 'node:url';
import { Ajv, type AnySchema } from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';
import { describe, expect, it } from 'vitest';
import { builtDashboards } from './dashboards.ts';
import { dashboardPanels } from './queries.ts';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** A JSON schema of Grafana's types. It rejects properties that they do not name. */
const schema = createGenerator({
  path: path('grafana-schema.ts'),
  tsconfig: path('../../tsconfig.json'),
  type: 'GrafanaSchema',
  additionalProperties: false,
  skipTypeCheck: true,
  // Two modules of the SDK have types of the same name.
  expose: 'none',
}).createSchema('GrafanaSchema');

const ajv = new Ajv({ strict: false, allErrors: true, allowUnionTypes: true }).addSchema(
  schema as AnySchema,
  'grafana',
);

/** The faults of a value against the part of the schema at this path; empty if it is valid. */
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

describe.each(builtDashboards(undefined, { uid: 'loki' }).map(({ uid, json }) => [uid, json] as const))(
  '%s',
  (_, json) => {
    const panels = dashboardPanels(json) as unknown as readonly PanelJson[];

    it('is a valid dashboard in Grafana’s schema', () => {
      const { panels: _, ...rest } = json;
      expect(faults('properties/dashboard', rest)).toEqual([]);
    });

    // The panels of a closed row are checked below.
    it.each(panels.filter(({ type }) => type === 'row').map((row) => [row.title, row] as const))(
      '%s is a valid row',
      (_title, row) => {
        expect(faults('properties/row', { ...row, panels: [] })).toEqual([]);
      },
    );

    it.each(panels.filter(({ type }) => type !== 'row').map((panel) => [panel.title, panel] as const))(
      '%s has valid options, fields and queries for its type',
      (_title, { targets = [], ...panel }) => {
        const { type, options, fieldConfig } = panel;
        expect(faults('properties/panel', panel)).toEqual([]);
        const kind = `properties/panels/properties/${type}/properties`;
        expect(faults(`${kind}/options`, options ?? {})).toEqual([]);
        expect(faults(`${kind}/custom`, fieldConfig?.defaults.custom ?? {})).toEqual([]);
        const part = type === 'logs' ? 'properties/logs' : 'properties/target';
        for (const target of targets) expect(faults(part, target)).toEqual([]);
      },
    );
  },
);

describe('the schema', () => {
  it('rejects properties that Grafana does not know, and values of another type', () => {
    expect(faults('properties/dashboard', { titel: 'x' }).join()).toContain('titel');
    expect(faults('properties/dashboard', { schemaVersion: '42' }).join()).toContain('must be number');
    const kind = 'properties/panels/properties/timeseries/properties';
    expect(faults(`${kind}/custom`, { lineWith: 2 }).join()).toContain('lineWith');
    expect(faults(`${kind}/custom`, { drawStyle: 'lines' })).not.toEqual([]);
    expect(faults('properties/panels/properties/no-such/properties/options', {}).join()).toContain('has no');
  });
});
