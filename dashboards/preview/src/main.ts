import { setTimeout as wait } from 'node:timers/promises';
import { DEMO_MS, type Demo, startDemo } from './demo.ts';
import { PreviewError } from './errors.ts';
import { startHistory } from './history.ts';
import { onlyRow } from './one-row.ts';
import { HELP, type Options, parseOptions } from './options.ts';
import { type DashboardReport, preview, readDashboards } from './preview.ts';
import { prometheusAt } from './prometheus.ts';
import { PLAYED_MS, played, STORIES, type StoryName } from './story.ts';
import { ruleSamples } from './story-rules.ts';

const DEFAULT_FROM_MS = 600_000;
const HOUR_MS = 3_600_000;

const say = (text: string): void => void process.stderr.write(`preview: ${text}\n`);

const summary = ({ png, width, height, panels }: DashboardReport): string => {
  const without = panels.filter(({ shows }) => shows !== 'data' && shows !== 'text');
  return [
    `${png} (${width} x ${height}): ${panels.length - without.length} of ${panels.length} panels show data`,
    ...without.map(({ title, shows, error }) => `  ${title}: ${error ?? shows}`),
  ].join('\n');
};

/** Only errors of drawing or querying fail the command, because a panel without data may be correct. */
const isWrong = ({ panels }: DashboardReport): boolean =>
  panels.some(({ shows }) => shows === 'error' || shows === 'undrawn');

const chosenDashboards = async ({ dashboards, row }: Options) => {
  const all = await readDashboards(dashboards);
  return row === undefined ? all : onlyRow(all, row);
};

const draw = async (options: Options, demo: Demo | undefined, toMs = Date.now()): Promise<void> => {
  const url = options.prometheus ?? demo?.url ?? '';
  const back = options.fromMs ?? (demo === undefined ? DEFAULT_FROM_MS : DEMO_MS);
  const reports = await preview(await chosenDashboards(options), url, options.out, {
    fromMs: toMs - back,
    toMs,
    width: options.width,
    height: options.height,
    scrapeMs: options.scrapeMs,
    chosen: options.chosen,
    open: options.open,
  });
  const text = options.json ? JSON.stringify(reports, null, 2) : reports.map(summary).join('\n');
  process.stdout.write(`${text}\n`);
  if (reports.some(isWrong)) process.exitCode = 1;
};

/** Draws an hour that is played without waiting for it. */
const drawStory = async (name: StoryName, options: Options): Promise<void> => {
  const stepMs = STORIES[name].scrapeMs;
  const toMs = Math.floor(Date.now() / stepMs) * stepMs;
  const samples = played(name, toMs);
  const withSamples = async <T>(of: readonly string[], use: (url: string) => Promise<T>): Promise<T> => {
    const history = await startHistory(of);
    try {
      return await use(history.url);
    } finally {
      await history.stop();
    }
  };
  const alerts = await withSamples(samples, (url) =>
    ruleSamples(prometheusAt(url), { fromMs: toMs - PLAYED_MS, toMs, stepMs }),
  );
  const shown = { ...options, fromMs: options.fromMs ?? HOUR_MS, scrapeMs: stepMs };
  // At its end, also if a busy machine needs minutes until here.
  await withSamples([...samples, ...alerts], (prometheus) => draw({ ...shown, prometheus }, undefined, toMs));
};

const run = async (args: readonly string[]): Promise<void> => {
  const options = parseOptions(args);
  if (options.help) return void process.stdout.write(HELP);
  // Before the demo, which takes two and a half minutes.
  await chosenDashboards(options);
  if (options.story !== undefined) return drawStory(options.story, options);
  if (options.prometheus !== undefined) return draw(options, undefined);
  const demo = await startDemo();
  try {
    say(`the demo runs for ${DEMO_MS / 1000} s to produce data; its Prometheus is ${demo.url}`);
    await wait(DEMO_MS);
    await draw(options, demo);
  } finally {
    await demo.stop();
  }
};

try {
  await run(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof PreviewError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
