import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { HABITS } from './habits.ts';
import { broken } from './limits.ts';
import { STORIES } from './outages.ts';
import { PROTECTIONS } from './protections.ts';
import { type Cost, playRuns } from './run.ts';

export const BENEFIT_PAGE = new URL('../../../docs/benefit.md', import.meta.url);
const RUNS = 200;
/** The limits need more: with 200 runs the mean of rejected good calls is 0.07 too high or too low by chance. */
const RUNS_OF_LIMITS = 2000;
const [BEGIN, END] = ['<!-- benefit -->\n', '<!-- /benefit -->'];

/** The tables, in Markdown. All figures are means of one run. */
export const benefitTables = (runs = RUNS): string =>
  STORIES.map((story) => {
    const rows = HABITS.flatMap((habit) =>
      PROTECTIONS.map(
        (kind) => `| ${[habit.text, kind.id, ...cells(playRuns(story, habit, kind, runs))].join(' | ')} |`,
      ),
    );
    return [`### ${sentence(story.text)}`, '', ...HEADER, ...rows, ''].join('\n');
  }).join('\n');

const HEADER = [
  '| the agent | protection | tasks completed | calls into a dead tool | tokens wasted | good calls rejected | pauses | recovery noticed after |',
  '|---|---|--:|--:|--:|--:|--:|--:|',
];

const sentence = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`;

const cells = ({
  runs,
  tasks,
  completed,
  deadCalls,
  wastedTokens,
  falseRejections,
  pauses,
  recoveries,
  recoverySeconds,
}: Cost): readonly string[] => [
  `${Math.round((100 * completed) / tasks)} %`,
  (deadCalls / runs).toFixed(1),
  Math.round(wastedTokens / runs).toLocaleString('en'),
  (falseRejections / runs).toFixed(1),
  (pauses / runs).toFixed(2),
  recoveries === 0 ? '-' : `${Math.round(recoverySeconds / recoveries)} s`,
];

/** The page with the tables in it. */
export const withTables = (page: string, tables: string): string => {
  const [before, rest = ''] = page.split(BEGIN);
  return `${before}${BEGIN}${tables}${END}${rest.slice(rest.indexOf(END) + END.length)}`;
};

/** `npm run bench -- benefit`: prints the tables; `--write` puts them into docs/benefit.md. Returns 1 if a limit is exceeded. */
export const runBenefit = (args: readonly string[]): number => {
  const { values } = parseArgs({ args: [...args], options: { write: { type: 'boolean', default: false } } });
  const tables = benefitTables();
  process.stdout.write(`${tables}\n`);
  if (values.write) writeFileSync(BENEFIT_PAGE, withTables(readFileSync(BENEFIT_PAGE, 'utf8'), tables));
  const misses = broken(RUNS_OF_LIMITS);
  for (const one of misses) process.stderr.write(`broken: ${one}\n`);
  return misses.length === 0 ? 0 : 1;
};
