/** A mean and the half of its 95 % confidence interval. */
export interface Estimate {
  readonly mean: number;
  readonly half: number;
}

const Z = 1.96;
/** 97.5 % quantiles of Student's t, for 1 to 10 degrees of freedom. */
const T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
/** Above 10 by the first terms of its expansion, which are right to three digits. */
const quantile = (degrees: number): number =>
  T[degrees - 1] ?? Z + (Z ** 3 + Z) / (4 * degrees) + (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / (96 * degrees ** 2);

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const deviationOf = (values: readonly number[]): number => {
  const mean = meanOf(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length - 1));
};

/** Of values of independent runs. */
export const estimate = (values: readonly number[]): Estimate => ({
  mean: meanOf(values),
  half: (quantile(Math.max(1, values.length - 1)) * deviationOf(values)) / Math.sqrt(values.length),
});

/**
 * Of a sum over another sum, such as seconds for each recovery: one value for each run, by its residual, whose estimate is that of the ratio.
 * Undefined if there is nothing to divide by.
 */
export const ratios = (above: readonly number[], below: readonly number[]): readonly number[] | undefined => {
  const divisor = meanOf(below);
  if (divisor === 0) return undefined;
  const ratio = meanOf(above) / divisor;
  return above.map((value, run) => ratio + (value - ratio * (below[run] ?? 0)) / divisor);
};

/** Of one set of runs against another of the same seeds, run by run. */
export const difference = (one: readonly number[], other: readonly number[]): Estimate =>
  estimate(one.slice(0, other.length).map((value, run) => value - (other[run] ?? 0)));
