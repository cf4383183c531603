/** The median of many values, and the quartiles around it. */
export interface Spread {
  readonly median: number;
  readonly p25: number;
  readonly p75: number;
}

/** The value below which a share of the sorted values lies, interpolated between two of them. */
export const quantile = (sorted: readonly number[], share: number): number => {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
};

/** @throws RangeError if there are no values. */
export const spreadOf = (values: readonly number[]): Spread => {
  if (values.length === 0) throw new RangeError('There are no values, so there is no median. Measure at least once.');
  const sorted = [...values].sort((one, other) => one - other);
  return { median: quantile(sorted, 0.5), p25: quantile(sorted, 0.25), p75: quantile(sorted, 0.75) };
};

/** Of the ratios of values that were measured right after one another: if the machine was slow, both values were. */
export const ratioOf = (values: readonly number[], base: readonly number[]): Spread =>
  spreadOf(values.map((value, index) => value / (base[index] ?? Number.NaN)));
