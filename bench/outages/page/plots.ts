import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { FRAMEWORKS, named } from '../table/cells.ts';
import type { CellResult, OutageResults } from '../table/results.ts';
import type { Estimate } from '../table/statistics.ts';

/** A plot of the page: one measure by fault and protection, for the AI SDK. */
interface Plot {
  readonly file: string;
  readonly title: string;
  readonly faults: readonly string[];
  of(cell: CellResult): Estimate;
}

const DEAD = ['permanent', 'slow', 'flapping', 'correlated', 'never-worked'];

export const PLOTS: readonly Plot[] = [
  {
    file: 'outage-success.svg',
    title: 'Tasks done, in % (AI SDK)',
    faults: ['none', 'mix', ...DEAD],
    of: ({ success: { mean, half } }) => ({ mean: 100 * mean, half: 100 * half }),
  },
  {
    file: 'outage-tokens.svg',
    title: 'Tokens wasted in a run (AI SDK)',
    faults: ['mix', ...DEAD],
    of: (cell) => cell.wastedTokens,
  },
  {
    file: 'outage-dead-calls.svg',
    title: 'Calls into a dead tool in a run (AI SDK)',
    faults: DEAD,
    of: (cell) => cell.deadCalls,
  },
];

const COLOURS: Readonly<Record<string, string>> = {
  none: '#8c8c8c',
  opossum: '#e0a458',
  'opossum-fallback': '#b5651d',
  cockatiel: '#d1495b',
  'breakerbox-own': '#c5b0d5',
  breakerbox: '#9ecae9',
  'breakerbox-map': '#4c78a8',
  'breakerbox-direct': '#1f4e79',
  'breakerbox-fleet': '#54a24b',
};

/** Faults on the axis, in the words of the page. */
const SHORT: Readonly<Record<string, string>> = {
  none: 'no outage',
  mix: 'published mix',
  permanent: 'one is dead',
  slow: 'one hangs',
  flapping: 'one flaps',
  correlated: 'three are dead',
  'never-worked': '401 from the start',
};
const short = (fault: string): string => SHORT[fault] ?? fault;

const specOf = ({ title, faults, of }: Plot, { cells }: OutageResults): TopLevelSpec => {
  const { protections } = named(FRAMEWORKS, 'ai-sdk');
  const shown = protections.filter(({ id }) => Object.hasOwn(COLOURS, id));
  const textOf = (id: string) => named(protections, id).text;
  const values = cells
    .filter(({ framework, habit, fault }) => framework === 'ai-sdk' && habit === 'usual' && faults.includes(fault))
    .map((cell) => {
      const { mean, half } = of(cell);
      return {
        fault: short(cell.fault),
        protection: textOf(cell.protection),
        mean,
        low: Math.max(0, mean - half),
        high: mean + half,
      };
    });
  const x = { field: 'fault', type: 'nominal' as const, sort: faults.map(short), title: null, axis: { labelAngle: 0 } };
  const order = shown.map(({ id }) => textOf(id));
  const xOffset = { field: 'protection', sort: order };
  return {
    background: 'white',
    title,
    width: 760,
    height: 260,
    data: { values },
    layer: [
      {
        mark: 'bar',
        encoding: {
          ...{ x, xOffset, y: { field: 'mean', type: 'quantitative', title: null } },
          color: {
            ...{ field: 'protection', type: 'nominal', sort: order, title: null },
            scale: { domain: order, range: shown.map(({ id }) => COLOURS[id] ?? 'black') },
            legend: { orient: 'bottom', columns: 3, labelLimit: 400 },
          },
        },
      },
      {
        mark: 'rule',
        encoding: {
          x,
          xOffset,
          y: { field: 'low', type: 'quantitative' },
          y2: { field: 'high' },
          color: { value: 'black' },
        },
      },
    ],
  };
};

/** The plot as SVG. */
export const drawPlot = (plot: Plot, results: OutageResults): Promise<string> =>
  new View(parse(compile(specOf(plot, results)).spec), { renderer: 'none' }).toSVG();
