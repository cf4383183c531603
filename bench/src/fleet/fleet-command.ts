import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Figures } from '../../../test/fleet/run-fault.ts';
import { withMarked } from '../marked.ts';
import { reportOf } from '../pool.ts';
import { table } from '../print.ts';
import { markdownTable } from '../tables.ts';
import { decisionCells } from './decision-table.ts';
import { cellsOf, HEAD, SCENARIOS } from './faults-table.ts';

const PAGE = new URL('../../README.md', import.meta.url);
const FILE = 'bench/README.md';

const healthyText = ({ healthy }: Figures): string =>
  healthy === undefined
    ? ''
    : `While the tool works, five processes made ${healthy.writes} writes in 5 s, and each ${healthy.readsPerSecond.toFixed(2)} reads a second.`;

const write = (name: string, text: string): void =>
  writeFileSync(PAGE, withMarked(readFileSync(PAGE, 'utf8'), name, text, FILE));

const runFaults = async (names: readonly string[], say: (text: string) => void): Promise<readonly Figures[]> => {
  const found: Figures[] = [];
  for (const name of names) {
    const scenario = SCENARIOS[name];
    if (scenario === undefined)
      throw new Error(`no scenario is called ${name}. The scenarios are ${Object.keys(SCENARIOS).join(', ')}.`);
    say(`${found.length + 1} of ${names.length}  ${name}`);
    found.push(await scenario());
  }
  return found;
};

/** `npm run bench -- faults`: five real processes go through everything that may happen to Redis. */
export const faultsReport = async (args: string[]): Promise<string> => {
  const options = { only: { type: 'string' }, write: { type: 'boolean', default: false } } as const;
  const { only, write: isWritten } = parseArgs({ args, options }).values;
  const names = only?.split(',') ?? Object.keys(SCENARIOS);
  const found = await runFaults(names, (text) => void process.stderr.write(`${text}\n`));
  const notes = found.map(healthyText).filter((text) => text !== '');
  const rows = [HEAD, ...found.map(cellsOf)];
  if (isWritten && only === undefined) write('faults', [markdownTable(rows), ...notes].join('\n\n'));
  return [table(rows), ...notes].join('\n\n');
};

/** `npm run bench -- fleet`: what a decision costs with and without a fleet, and with a Redis that hangs. */
export const fleetReport = async (args: string[]): Promise<string> => {
  const options = { quick: { type: 'boolean', default: false }, write: { type: 'boolean', default: false } } as const;
  const { quick, write: isWritten } = parseArgs({ args, options }).values;
  const child = fileURLToPath(new URL('decision-child.ts', import.meta.url));
  const rows = decisionCells(await reportOf(child, [quick ? 'quick' : 'full']));
  if (isWritten && !quick) write('fleet', markdownTable(rows));
  return table(rows);
};
