import {
  applyFieldOverrides,
  type ConfigOverrideRule,
  cacheFieldDisplayNames,
  type DataFrame,
  FieldConfigOptionsRegistry,
  type FieldConfigPropertyItem,
  type FieldConfigSource,
  type GrafanaTheme2,
  standardTransformers,
  standardTransformersRegistry,
  type ThresholdsConfig,
  transformDataFrame,
} from '@grafana/data';
import type { PanelJson } from '../src/scene.ts';

/** Options of a field that every panel has. Options that are not listed belong to the panel, under `custom`. */
const STANDARD = [
  'unit',
  'min',
  'max',
  'decimals',
  'displayName',
  'noValue',
  'thresholds',
  'mappings',
  'links',
  'color',
  'filterable',
  'description',
  'fieldMinMax',
] as const;

/** JSON has no -Infinity: the lowest step's value is null. */
const withBase = (value: ThresholdsConfig): ThresholdsConfig => ({
  ...value,
  steps: value.steps.map((step) => ({ ...step, value: step.value ?? Number.NEGATIVE_INFINITY })),
});

const isThresholds = (id: string, value: unknown): value is ThresholdsConfig =>
  id === 'thresholds' && typeof value === 'object' && value !== null;

const property = (id: string): FieldConfigPropertyItem => {
  const isCustom = id.startsWith('custom.');
  return {
    id,
    path: isCustom ? id.slice('custom.'.length) : id,
    name: id,
    isCustom,
    process: (value: unknown) => (isThresholds(id, value) ? withBase(value) : value),
    shouldApply: () => true,
    // Grafana's app edits options with these. The preview edits nothing.
    override: () => null,
    editor: () => null,
  };
};

/** In Grafana, each panel plugin registers its options. Here, the options that this panel's JSON names are registered. */
const registryFor = ({ defaults, overrides }: FieldConfigSource): FieldConfigOptionsRegistry => {
  const custom = Object.keys(defaults.custom ?? {}).map((key) => `custom.${key}`);
  const overridden = overrides.flatMap(({ properties }) => properties.map(({ id }) => id));
  const ids = [...new Set([...STANDARD, ...custom, ...overridden])];
  return new FieldConfigOptionsRegistry(() => ids.map(property));
};

/** The colours of Grafana's panels if the JSON sets none. */
const COLOUR: Readonly<Record<string, string>> = {
  timeseries: 'palette-classic',
  barchart: 'palette-classic',
  piechart: 'palette-classic',
  'state-timeline': 'continuous-GrYlRd',
};

/** The panel's field configuration with Grafana's defaults. */
export const fieldConfigOf = ({ type, fieldConfig }: PanelJson): FieldConfigSource => ({
  defaults: {
    thresholds: {
      mode: 'absolute',
      steps: [
        { value: null, color: 'green' },
        { value: 80, color: 'red' },
      ],
    },
    color: { mode: COLOUR[type] ?? 'thresholds' },
    ...fieldConfig?.defaults,
  } as FieldConfigSource['defaults'],
  overrides: (fieldConfig?.overrides ?? []) as ConfigOverrideRule[],
});

/** Registers the transformations of dashboards, which Grafana's app does when it starts. */
export const registerTransformers = (): void => {
  // One of them is registered under two names.
  const byId = new Map(Object.values(standardTransformers).map((one) => [one.id, one]));
  standardTransformersRegistry.setInit(() =>
    [...byId.values()].map((transformer) => ({
      ...transformer,
      transformation: () => Promise.resolve(transformer),
      editor: () => null,
      imageDark: '',
      imageLight: '',
    })),
  );
};

const unchanged = (text: string): string => text;

/** Frames as the panel receives them: transformed, with units, colours, mappings and thresholds on each field. */
export const prepared = async (panel: PanelJson, frames: DataFrame[], theme: GrafanaTheme2): Promise<DataFrame[]> => {
  const steps = (panel.transformations ?? []).map((one) => ({ options: {}, ...one }));
  const transformed = await new Promise<DataFrame[]>((next, error) => {
    transformDataFrame(steps, frames).subscribe({ next, error });
  });
  const fieldConfig = fieldConfigOf(panel);
  const ready = applyFieldOverrides({
    data: transformed,
    fieldConfig,
    fieldConfigRegistry: registryFor(fieldConfig),
    replaceVariables: unchanged,
    theme,
    timeZone: 'browser',
  });
  // A table reads its headings only from here.
  cacheFieldDisplayNames(ready);
  return ready;
};
