import { parseArgs } from 'node:util';
import { table } from '../src/print.ts';
import { type Cost, type Measured, measure } from './measure.ts';
import { rulesCpu, writeTable } from './table.ts';

const USAGE = `pnpm bench -- bundle [--agents 10,100,500] [--tools 20] [--each [--only TITLE]] [--write]

  --agents  how many agents, for each run
  --tools   how many tools each of them has
  --each    also asks each query of each dashboard alone, and lists the most expensive ones of each view
  --only    one dashboard, by the start of its title, or: rules
  --write   writes the table of dashboards/README.md; needs a run of all dashboards and rules`;

const RULES_EVERY = 15;
/** Of each view or group. */
const LISTED = 15;
const MB = 1e6;
const figure = (seconds: number): string => seconds.toFixed(2);

const numbers = (text: string, option: string): readonly number[] =>
  text.split(',').map((one) => {
    const number = Number(one);
    if (Number.isInteger(number) && number > 0) return number;
    throw new Error(`--${option} is ${text}. Write whole numbers from 1, with commas between them.\n\n${USAGE}`);
  });

const listed = (costs: readonly (Cost & { readonly from: string })[]): readonly string[] =>
  costs.length === 0
    ? []
    : [
        table([
          ['most expensive', 'CPU s', 'wall s'],
          ...costs
            .toSorted((a, b) => b.cpu - a.cpu)
            .slice(0, LISTED)
            .map(({ what, from, cpu, wall }) => [`${from}: ${what}`, figure(cpu), figure(wall)]),
        ]),
      ];

/** The tables of one run. */
export const described = (found: Measured, each: boolean): string => {
  const errors = [...found.refreshes, ...found.groups].flatMap((one) => one.errors);
  return [
    `${found.agents} agents with ${found.tools} tools: ${found.series} series, and ${found.recorded} that the rules record; Prometheus uses up to ${Math.round(found.memory / MB)} MB.`,
    table([
      ['refresh', 'wall s', 'CPU s'],
      ...found.refreshes.map(({ what, wall, cpu }) => [what, figure(wall), figure(cpu)]),
    ]),
    table([
      ['rules', 'every s', 'CPU s', 'wall s', 'CPU s per 15 s'],
      ...found.groups.map(({ what, interval, cpu, wall }) => [
        what,
        String(interval),
        figure(cpu),
        figure(wall),
        figure((cpu * RULES_EVERY) / interval),
      ]),
      ['all', '', '', '', figure(rulesCpu(found))],
    ]),
    ...found.refreshes.flatMap(({ dashboard, view }) =>
      listed(
        found.queries
          .filter((one) => one.dashboard === dashboard && one.view === view)
          .map((one) => ({ ...one, from: `${dashboard}, ${view}` })),
      ),
    ),
    ...(each ? found.groups.flatMap(({ what, rules }) => listed(rules.map((one) => ({ ...one, from: what })))) : []),
    ...(errors.length === 0 ? [] : [`Prometheus rejected ${errors.length}:`, ...errors]),
  ].join('\n\n');
};

/** `npm run bench -- bundle`. Prints each run when it ends. */
export const runBundle = async (args: string[], print: (text: string) => void): Promise<void> => {
  const { values } = parseArgs({
    args,
    options: {
      agents: { type: 'string', default: '10,100,500' },
      tools: { type: 'string', default: '20' },
      each: { type: 'boolean', default: false },
      only: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return print(USAGE);
  if (values.write && values.only !== undefined)
    throw new Error(`--write needs all dashboards and rules. Leave out --only.\n\n${USAGE}`);
  const [tools = 20] = numbers(values.tools, 'tools');
  const runs: Measured[] = [];
  for (const agents of numbers(values.agents, 'agents')) {
    const run = await measure({ agents, tools }, { each: values.each, only: values.only });
    runs.push(run);
    print(described(run, values.each));
    if (values.write) writeTable(runs);
  }
};
