import { readFileSync, writeFileSync } from 'node:fs';
import { withMarked } from '../src/marked.ts';
import type { Measured } from './measure.ts';

const PAGE = 'dashboards/README.md';
const FILE = new URL(`../../${PAGE}`, import.meta.url);
const RULES_EVERY = 15;
const MB = 1e6;

/** Seconds of CPU that all rules need in the time between two scrapes. */
export const rulesCpu = ({ groups }: Measured): number =>
  groups.reduce((sum, { cpu, interval }) => sum + (cpu * RULES_EVERY) / interval, 0);

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const seconds = (value: number): string => value.toFixed(value < 1 ? 2 : 1);

/** The table of what agents cost a Prometheus, in Markdown: a column for each run. */
export const costTable = (runs: readonly Measured[]): string => {
  const row = (what: string, cell: (run: Measured) => string): string => `| ${[what, ...runs.map(cell)].join(' | ')} |`;
  const views = (runs[0]?.refreshes ?? []).map(({ dashboard, view }) => ({ dashboard, view }));
  return [
    row('what', ({ agents }) => `${agents} agents`),
    `|---|${runs.map(() => '--:|').join('')}`,
    row('series of the agents', ({ series }) => whole(series)),
    row('series that the rules record', ({ recorded }) => whole(recorded)),
    row('memory of Prometheus', ({ memory }) => `${whole(memory / MB)} MB`),
    ...views.map(({ dashboard, view }) =>
      row(`${dashboard}, ${view}: CPU (wall)`, ({ refreshes }) => {
        const found = refreshes.find((one) => one.dashboard === dashboard && one.view === view);
        return found === undefined ? '–' : `${seconds(found.cpu)} (${seconds(found.wall)})`;
      }),
    ),
    row('all rules, for each 15 s: CPU', (run) => seconds(rulesCpu(run))),
  ].join('\n');
};

/** Writes the table between the markers of the dashboards' README. */
export const writeTable = (runs: readonly Measured[]): void =>
  writeFileSync(FILE, withMarked(readFileSync(FILE, 'utf8'), 'bundle', costTable(runs), PAGE));
