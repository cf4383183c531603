import { parseArgs } from 'node:util';
import { PreviewError } from './errors.ts';
import { parseDuration } from './steps.ts';
import { STORIES, type StoryName } from './story.ts';
import type { Chosen } from './variables.ts';

/** The options of the command. */
export interface Options {
  /** Address of Prometheus. Without it, the command starts the demo. */
  readonly prometheus: string | undefined;
  /** Draws a simulated hour instead of the demo. */
  readonly story: StoryName | undefined;
  readonly out: string;
  /** Uids of the dashboards; empty: all. */
  readonly dashboards: readonly string[];
  /** Draws only the panels of this row. Default: the whole dashboard. */
  readonly row: string | undefined;
  /** Draws what is in rows that are closed at first. */
  readonly open: boolean;
  /** Width in pixels. */
  readonly width: number;
  /** Height in pixels; the rest of the dashboard is cut. Default: the whole dashboard. */
  readonly height: number | undefined;
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
  --story NAME             instead of the demo, an hour that the engine plays at once: outage, fleet (50 agents),
                           incident (20 alerts and more), flood (about 200), single (one),
                           spending (limits of runs) or idle
  --out DIR                where the pictures go (default: dashboards/preview/out)
  --dashboard UID          only this one; may be given more than once
  --row TITLE              only the panels of this row; dashboards without it are left out
  --open                   opens rows that Grafana shows closed at first; --row opens its own
  --width PIXELS           of the pictures (default: 1600)
  --height PIXELS          cuts longer pictures, to show one screen (default: the whole dashboard)
  --from DURATION          how far back, such as 10m or 1h (default: 10m; with the demo, as long as it has run)
  --scrape-interval TIME   of the data source, as its settings in Grafana would say (default: that of Prometheus' targets)
  --var NAME=VALUE         selects a value of a variable, such as tool=web_search; may be given more than once
  --json                   print what each panel showed as JSON
  --help                   print this
`;

const LEAST_PIXELS = 400;
const MOST_PIXELS = 8000;

/**
 * @throws PreviewError that says what is wrong with the arguments
 */
export const parseOptions = (args: readonly string[]): Options => {
  const { values } = parsed(args);
  return {
    prometheus: values.prometheus === undefined ? undefined : address(values.prometheus),
    story: storyOf(values.story),
    out: values.out,
    dashboards: values.dashboard ?? [],
    row: values.row,
    open: values.open || values.row !== undefined,
    width: pixels('--width', values.width),
    height: values.height === undefined ? undefined : pixels('--height', values.height),
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
        story: { type: 'string' },
        out: { type: 'string', default: 'dashboards/preview/out' },
        dashboard: { type: 'string', multiple: true },
        row: { type: 'string' },
        open: { type: 'boolean', default: false },
        width: { type: 'string', default: '1600' },
        height: { type: 'string' },
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

const isStory = (text: string): text is StoryName => text in STORIES;

const storyOf = (text: string | undefined): StoryName | undefined => {
  if (text === undefined || isStory(text)) return text;
  throw new PreviewError(`--story ${text} does not exist. There are: ${Object.keys(STORIES).join(', ')}.`);
};

const address = (text: string): string => {
  if (/^https?:\/\/./.test(text) && URL.canParse(text)) return text;
  throw new PreviewError(`--prometheus ${text} is not an address. Write one such as http://127.0.0.1:9090.`);
};

const pixels = (option: string, text: string): number => {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (count >= LEAST_PIXELS && count <= MOST_PIXELS) return count;
  throw new PreviewError(`${option} ${text}: write a whole number of pixels from ${LEAST_PIXELS} to ${MOST_PIXELS}.`);
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
