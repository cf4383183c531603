import { parseArgs } from 'node:util';
import { PreviewError } from './errors.ts';
import { parseDuration } from './steps.ts';
import type { Chosen } from './variables.ts';

/** The options of the command. */
export interface Options {
  /** Address of Prometheus. Without it, the command starts the demo. */
  readonly prometheus: string | undefined;
  readonly out: string;
  /** Uids of the dashboards; empty: all. */
  readonly dashboards: readonly string[];
  /** Width in pixels. */
  readonly width: number;
  /** The time range. Default: ten minutes; with the demo, as long as it has run. */
  readonly fromMs: number | undefined;
  readonly scrapeMs: number | undefined;
  readonly chosen: Chosen;
  readonly json: boolean;
  readonly help: boolean;
}

export const HELP = `Draws each dashboard of dashboards/generated to PNG, from live data. A preview drawn with @grafana/ui, not Grafana.

Usage: pnpm preview [options]

  --prometheus URL         query this Prometheus (default: starts the demo with its own, which takes two and a half minutes)
  --out DIR                where the pictures go (default: dashboards/preview/out)
  --dashboard UID          only this one; may be given more than once
  --width PIXELS           of the pictures (default: 1600)
  --from DURATION          how far back, such as 10m or 1h (default: 10m; with the demo, as long as it has run)
  --scrape-interval TIME   of the data source, as its settings in Grafana would say (default: that of Prometheus' targets)
  --var NAME=VALUE         selects a value of a variable, such as tool=web_search; may be given more than once
  --json                   print what each panel showed as JSON
  --help                   print this
`;

const LEAST_WIDTH = 400;
const MOST_WIDTH = 8000;

/**
 * @throws PreviewError that says what is wrong with the arguments
 */
export const parseOptions = (args: readonly string[]): Options => {
  const { values } = parsed(args);
  return {
    prometheus: values.prometheus === undefined ? undefined : address(values.prometheus),
    out: values.out,
    dashboards: values.dashboard ?? [],
    width: pixels(values.width),
    fromMs: time('--from', values.from),
    scrapeMs: time('--scrape-interval', values['scrape-interval']),
    chosen: chosenOf(values.var ?? []),
    json: values.json,
    help: values.help,
  };
};

const parsed = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      options: {
        prometheus: { type: 'string' },
        out: { type: 'string', default: 'dashboards/preview/out' },
        dashboard: { type: 'string', multiple: true },
        width: { type: 'string', default: '1600' },
        from: { type: 'string' },
        'scrape-interval': { type: 'string' },
        var: { type: 'string', multiple: true },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new PreviewError(`${error instanceof Error ? error.message : String(error)} --help lists the options.`);
  }
};

const address = (text: string): string => {
  if (/^https?:\/\/./.test(text) && URL.canParse(text)) return text;
  throw new PreviewError(`--prometheus ${text} is not an address. Write one such as http://127.0.0.1:9090.`);
};

const pixels = (text: string): number => {
  const width = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (width >= LEAST_WIDTH && width <= MOST_WIDTH) return width;
  throw new PreviewError(`--width ${text}: write a whole number of pixels from ${LEAST_WIDTH} to ${MOST_WIDTH}.`);
};

const time = (option: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new PreviewError(`${option} ${text} is not a duration. Write one such as 30s, 10m or 1h30m.`);
};

const chosenOf = (pairs: readonly string[]): Chosen => {
  const chosen: Record<string, string[]> = {};
  for (const pair of pairs) {
    const [, name, value] = /^(\w+)=(.+)$/.exec(pair) ?? [];
    if (name === undefined || value === undefined) {
      throw new PreviewError(`--var ${pair}: write a variable's name and a value, such as tool=web_search.`);
    }
    chosen[name] = [...(chosen[name] ?? []), value];
  }
  return chosen;
};
