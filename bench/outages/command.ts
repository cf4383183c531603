import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { writeOutagePage } from './page/page.ts';
import { expectationText, terminalTables } from './page/tables.ts';
import { allCells, quickCells, RUNS } from './table/cells.ts';
import { type OutageResults, RESULTS_FILE, resultsOf } from './table/results.ts';
import { runCells } from './table/run-cells.ts';

const USAGE = `pnpm bench -- outages [--quick] [--runs N] [--tasks CLONE] [--json FILE] [--write] [--render]

  --quick        the reduced run: fewer cells and runs, without the fleet and the habits
  --runs N       runs for each cell of the AI SDK, and a quarter of them for the other cells (default ${RUNS})
  --tasks CLONE  plays tau2-bench's airline tasks, from the folder of a clone
  --json FILE    writes the results there
  --write        writes bench/outages/results.json, and the tables and plots of docs/outage-bench.md; needs all cells of our own tasks
  --render       plays nothing: draws the tables and plots again from bench/outages/results.json
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
  if (values.render) return writeOutagePage(JSON.parse(readFileSync(RESULTS_FILE, 'utf8')) as OutageResults);
  const runs = values.runs === undefined ? RUNS : Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1)
    throw new Error(`--runs: give a number of runs from 1 on, not ${values.runs}.`);
  if (values.write && (values.quick || values.tasks !== undefined))
    throw new Error('--write needs all cells of our own tasks. Leave out --quick and --tasks.');
  const results = await playAll(values.quick ? quickCells() : allCells(runs), values.tasks);
  print(terminalTables(results));
  if (values.tasks === undefined) print(expectationText(results));
  const json = `${JSON.stringify(results)}\n`;
  if (values.json !== undefined) writeFileSync(values.json, json);
  if (!values.write) return;
  writeFileSync(RESULTS_FILE, json);
  await writeOutagePage(results);
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
    minutes: Math.ceil((performance.now() - begun) / 60_000),
    cells: resultsOf(played),
  };
};
