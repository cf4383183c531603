import type { DataFrame, DisplayValue, Field } from '@grafana/data';

/** A period in which a field has the same value. */
export interface Band {
  readonly fromMs: number;
  readonly toMs: number;
  readonly display: DisplayValue;
}

/**
 * How Grafana names and colours the values of a state timeline. If it merges equal values and the colour mode is `thresholds`, it replaces
 * each value by its threshold, and drops the value mappings: without a threshold, all bands are `-∞+` in the colour of the base.
 */
const displayOf = ({ config, display }: Field, merge: boolean): Field['display'] => {
  const steps = config.thresholds?.steps ?? [];
  if (!merge || config.color?.mode !== 'thresholds' || steps.length === 0) return display;
  return (value) => {
    const index = Math.max(
      0,
      steps.findLastIndex((step) => Number(value) >= step.value),
    );
    const { value: from = Number.NEGATIVE_INFINITY, color = '' } = steps[index] ?? {};
    const below = steps[index + 1]?.value;
    const text = index === 0 && below !== undefined ? `< ${below}` : `${Number.isFinite(from) ? from : '-∞'}+`;
    return { text, color, numeric: Number.NaN };
  };
};

/** A sample is valid until the next one, if that follows within this many steps. */
const MISSED = 1.5;

/**
 * The values of a field over time. Merges equal neighbours into one band if `merge` is set.
 * @param toMs where the last band ends, if samples reach that far
 */
export const bandsOf = (frame: DataFrame, field: Field, toMs: number, merge: boolean): readonly Band[] => {
  const time = frame.fields.find(({ type }) => type === 'time');
  const display = displayOf(field, merge);
  if (time === undefined || display === undefined) return [];
  const interval = time.config.interval ?? 0;
  const bands: Band[] = [];
  time.values.forEach((at: number, index: number) => {
    const value: unknown = field.values[index];
    if (value === null || value === undefined) return;
    const next: number = time.values[index + 1] ?? toMs;
    const until = interval > 0 && next - at > MISSED * interval ? at + interval : next;
    const shown = display(value);
    const last = bands.at(-1);
    const same = merge && last !== undefined && last.toMs === at && last.display.text === shown.text;
    if (same && last.display.color === shown.color) bands[bands.length - 1] = { ...last, toMs: until };
    else bands.push({ fromMs: at, toMs: Math.min(until, toMs), display: shown });
  });
  return bands;
};

const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

/** Round times for the ticks of a time axis, at most this many. Unix milliseconds. */
export const timeTicks = (fromMs: number, toMs: number, most: number): readonly number[] => {
  const step = 1000 * (STEPS_S.find((one) => (toMs - fromMs) / 1000 / one <= most) ?? 7 * 86_400);
  const first = Math.ceil(fromMs / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((toMs - first) / step) + 1) }, (_, index) => first + index * step);
};

/**
 * The labels that can be written without touching each other: always the last, and each one that has room.
 * @param places positions in pixels
 * @param room width of each in pixels
 */
export const roomy = (places: readonly number[], room: number): readonly number[] => {
  const kept: number[] = [];
  for (let index = places.length - 1; index >= 0; index -= 1) {
    const place = places[index] ?? 0;
    if (kept.every((one) => Math.abs((places[one] ?? 0) - place) >= room)) kept.unshift(index);
  }
  return kept;
};
