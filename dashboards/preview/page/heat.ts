import * as chromatic from 'd3-scale-chromatic';

/** The colour options of the panel's cells. */
export interface HeatColor {
  readonly mode: 'scheme' | 'opacity';
  readonly scheme: string;
  readonly fill: string;
  readonly scale: 'exponential' | 'linear';
  readonly exponent: number;
  readonly steps: number;
  readonly reverse: boolean;
  readonly min?: number;
  readonly max?: number;
}

/** Schemes that go from dark to bright. Grafana reverses all others on a dark background. */
const NEVER_TURNED = ['Turbo', 'Cividis', 'Viridis', 'Magma', 'Inferno', 'Plasma', 'Warm', 'Cool', 'CubehelixDefault'];

const interpolators: Readonly<Record<string, unknown>> = chromatic;

/** Colours from the lowest to the highest value. `withAlpha` sets the opacity of the fill, from 0 to 1. */
export const paletteOf = (
  { mode = 'scheme', scheme = 'Oranges', fill = 'dark-orange', scale = 'exponential', ...color }: Partial<HeatColor>,
  withAlpha: (color: string, opacity: number) => string,
): readonly string[] => {
  const { exponent = 0.5, steps = 64, reverse = false } = color;
  const interpolate = interpolators[`interpolate${scheme}`];
  const at = (part: number): string => {
    if (mode === 'opacity') return withAlpha(fill, scale === 'exponential' ? part ** exponent : part);
    return typeof interpolate === 'function' ? String(interpolate(part)) : withAlpha(fill, part);
  };
  const palette = Array.from({ length: steps }, (_, index) => at(index / Math.max(1, steps - 1)));
  const turned = mode === 'scheme' && !NEVER_TURNED.includes(scheme);
  return turned !== reverse ? palette.reverse() : palette;
};

/** The index of the colour for a value. */
export const shade = (value: number, min: number, max: number, colours: number): number =>
  Math.min(colours - 1, Math.max(0, Math.floor((colours * (value - min)) / (max - min || 1))));
