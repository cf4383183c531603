import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { broken } from './limits.ts';
import { DEFAULTS_FILE, FULL_SIZE, playAll, QUICK_SIZE } from './play.ts';
import { defaultsReport } from './table.ts';

export const DEFAULTS_USAGE = `pnpm bench -- defaults [--quick] [--json FILE] [--write]

  simulates runs of an agent whose tools fail, under several failure budgets; the numbers are the same on every machine
  --quick      a few seconds instead of a minute: ${QUICK_SIZE.runs} runs of each, not ${FULL_SIZE.runs.toLocaleString('en')}
  --json FILE  writes the results there
  --write      writes bench/defaults.json; \`node scripts/pnpm/pnpm.mjs run generate\` puts its tables into docs/concepts.md
`;

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** `npm run bench -- defaults`. Returns the exit code: 1 if a limit of the defaults is exceeded. */
export const runDefaults = (args: readonly string[]): number => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(DEFAULTS_USAGE);
    return 0;
  }
  if (values.write && values.quick) {
    say('bench: --write needs a full run. Leave out --quick.');
    return 1;
  }
  const results = playAll(values.quick ? QUICK_SIZE : FULL_SIZE, ({ id }) => say(id));
  process.stdout.write(`${defaultsReport(results)}\n`);
  const json = `${JSON.stringify(results, null, 2)}\n`;
  if (values.json !== undefined) writeFileSync(values.json, json);
  if (values.write) writeFileSync(DEFAULTS_FILE, json);
  const misses = broken(results);
  for (const one of misses) say(`broken: ${one}`);
  return misses.length === 0 ? 0 : 1;
};
