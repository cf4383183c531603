import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { writeOutagePage } from './page/page.ts';
import { expectationText, terminalTables } from './page/tables.ts';
import { allCells, QUICK_RUNS, quickCells, RUNS } from './table/cells.ts';
import { quickHeadlines } from './table/headlines.ts';
import { type OutageResults, PUBLISHED_FILE, QUICK_FILE, RESULTS_FILE, resultsOf } from './table/results.ts';
import { type PlayedCell, runCells } from './table/run-cells.ts';

const USAGE = `pnpm bench -- outages [--quick] [--runs N] [--tasks CLONE] [--json FILE] [--write] [--render]

  --quick        the reduced run: fewer cells, without the fleet, circuits of one conversation and the habits, and fewer runs: 20, elsewhere a tenth
  --runs N       runs for each cell of the AI SDK, and a quarter of them for the other cells (default ${RUNS}; with --quick ${QUICK_RUNS})
  --tasks CLONE  plays tau2-bench's airline tasks, from the folder of a clone
  --json FILE    writes the results there
  --write        writes bench/outages/results.json, results-quick.json, the README's figures, and the tables and plots of
                 docs/outage-bench.md; with --quick only results-quick.json, with --quick and --tasks results-tau2.json and the page
  --render       plays nothing: draws the tables and plots again from these files
`;

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** @throws Error if the options do not go together. */
export const runOutages = async (args: string[], print: (text: string) => void): Promise<void> => {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      runs: { type: 'string' },
      tasks: { type: 'string' },
      json: { type: 'string' },
      write: { type: 'boolean', default: false },
      render: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return print(USAGE);
  if (values.render) return writeOutagePage();
  const runs = Number(values.runs ?? (values.quick ? QUICK_RUNS : RUNS));
  if (!Number.isInteger(runs) || runs < 1)
    throw new Error(`--runs: give a number of runs from 1 on, not ${values.runs}.`);
  const isPublished = values.tasks !== undefined;
  if (values.write && isPublished && !values.quick)
    throw new Error('--write with --tasks needs --quick too. The figures of the whole table are from our own tasks.');
  if (values.write && runs < QUICK_RUNS) throw new Error(`--write needs --runs ${QUICK_RUNS} or more.`);
  if (values.json !== undefined) writeFileSync(values.json, '', { flag: 'a' }); // So that a wrong path fails before the cells are played.
  const { played, ...results } = await playAll(values.quick ? quickCells(runs) : allCells(runs), values.tasks);
  print(terminalTables(results));
  if (!isPublished) print(expectationText(results));
  const json = `${JSON.stringify(results)}\n`;
  if (values.json !== undefined) writeFileSync(values.json, json);
  if (!values.write) return;
  if (isPublished) writeFileSync(PUBLISHED_FILE, json);
  else writeFileSync(QUICK_FILE, `${JSON.stringify(quickHeadlines(played))}\n`);
  if (!values.quick) writeFileSync(RESULTS_FILE, json);
  if (isPublished || !values.quick) await writeOutagePage();
};

const playAll = async (
  cells: ReturnType<typeof allCells>,
  clone: string | undefined,
): Promise<OutageResults & { readonly played: readonly PlayedCell[] }> => {
  const begun = performance.now();
  let done = 0;
  const played = await runCells(cells, {
    clone,
    onCell: ({ framework, protection, fault, habit }) => {
      done += 1;
      say(`${done} of ${cells.length}  ${framework}, ${protection}, ${fault}, ${habit}`);
    },
  });
  return {
    played,
    date: new Date().toISOString().slice(0, 10),
    seconds: Math.round((performance.now() - begun) / 1_000),
    cores: availableParallelism(),
    cells: resultsOf(played),
  };
};
