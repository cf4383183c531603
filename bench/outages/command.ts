import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { writeOutagePage } from './page/page.ts';
import { expectationText, terminalTables } from './page/tables.ts';
import { allCells, quickCells, RUNS } from './table/cells.ts';
import { type OutageResults, PUBLISHED_FILE, RESULTS_FILE, resultsOf } from './table/results.ts';
import { runCells } from './table/run-cells.ts';

const USAGE = `pnpm bench -- outages [--quick] [--runs N] [--tasks CLONE] [--json FILE] [--write] [--render]

  --quick        the reduced run: fewer cells and runs, without the fleet and the habits
  --runs N       runs for each cell of the AI SDK, and a quarter of them for the other cells (default ${RUNS})
  --tasks CLONE  plays tau2-bench's airline tasks, from the folder of a clone
  --json FILE    writes the results there
  --write        writes bench/outages/results.json, and the tables and plots of docs/outage-bench.md; needs all cells of our own tasks,
                 or --quick and --tasks for bench/outages/results-tau2.json
  --render       plays nothing: draws the tables and plots again from these two files
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
  const runs = values.runs === undefined ? RUNS : Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1)
    throw new Error(`--runs: give a number of runs from 1 on, not ${values.runs}.`);
  const isPublished = values.tasks !== undefined;
  if (values.write && values.quick !== isPublished)
    throw new Error('--write needs all cells of our own tasks, or --quick and --tasks. Give both of these, or none.');
  const results = await playAll(values.quick ? quickCells() : allCells(runs), values.tasks);
  print(terminalTables(results));
  if (!isPublished) print(expectationText(results));
  const json = `${JSON.stringify(results)}\n`;
  if (values.json !== undefined) writeFileSync(values.json, json);
  if (!values.write) return;
  writeFileSync(isPublished ? PUBLISHED_FILE : RESULTS_FILE, json);
  await writeOutagePage();
};

const playAll = async (cells: ReturnType<typeof allCells>, clone: string | undefined): Promise<OutageResults> => {
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
    date: new Date().toISOString().slice(0, 10),
    seconds: Math.round((performance.now() - begun) / 1_000),
    cores: availableParallelism(),
    cells: resultsOf(played),
  };
};
