import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runBenefit } from './benefit/command.ts';
import { CASES } from './cases.ts';
import { FULL, QUICK } from './contest.ts';
import { runDefaults } from './defaults/command.ts';
import { describeMachine, load } from './machine.ts';
import { RESULTS, writePages } from './pages.ts';
import { type Job, joined, runAll } from './pool.ts';
import { report } from './print.ts';
import { caseResult, type Found, judge, type Results } from './results.ts';
import { TARGETS } from './targets.ts';

const USAGE = `pnpm bench -- [--quick] [--only CASE,…] [--json FILE] [--write]

  --quick      a few seconds: shows that everything works; the numbers have little value
  --only       some cases: ${CASES.map(({ id }) => id).join(', ')}
  --json FILE  writes the results there
  --write      writes bench/results.json, and the figures in README.md and bench/README.md; needs a full run of all cases on an idle machine

Other measurements:
  pnpm bench -- path [--list]       files and functions that a call that succeeds runs through; --list names them
  pnpm bench -- cold [--rounds N]   milliseconds to import each package in a fresh process; builds the packages first
  pnpm bench -- size [--list]       bytes of the minimal program by folder of core; --list: by file
  pnpm bench -- series              Prometheus series of a tool: idle, healthy, in an outage
  pnpm bench -- bundle              what the dashboards and rules cost a Prometheus with 10, 100 and 500 agents; \`--help\` says more
  pnpm bench -- benefit [--write]   simulated agents on tools that fail: without protection, with a simple breaker, with Breakerbox
  pnpm bench -- relay               time and memory of \`breakerbox mcp\` beside a direct connection; builds the packages first
  pnpm bench -- models              what guardModels() adds to a request and to each part of a stream
  pnpm bench -- replay              time and memory of \`breakerbox replay\` over a million events
  pnpm bench -- scrape              what reading /metrics costs an agent with 92,000 series
  pnpm bench -- fleet [--write]     what a decision costs in a fleet, and with a Redis that hangs
  pnpm bench -- faults [--only …]   five real processes through all that may happen to Redis
  pnpm bench -- scale [--write]     10,000 simulated processes that share a circuit, beside processes that learn alone
  pnpm bench -- outages [--quick]   protections in real agent frameworks whose tools fail on the socket; \`--help\` says more
  pnpm bench -- defaults            what the default rules do to runs whose tools fail; \`--help\` says more
`;

const say = (text: string): void => void process.stderr.write(`${text}\n`);

const giveUp = (text: string): never => {
  say(`bench: ${text}`);
  process.exit(1);
};

/** pnpm passes on the `--` that npm removes. */
const ownArguments = (): string[] => process.argv.slice(2).filter((one, index) => index > 0 || one !== '--');

const readOptions = () => {
  try {
    const { values } = parseArgs({
      args: ownArguments(),
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string' },
        json: { type: 'string' },
        write: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    return giveUp(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
};

/** The first process of every job, then the second of every job: other load on the machine is spread over all jobs. */
const measureAll = async (jobs: readonly Job[], quick: boolean): Promise<readonly Found[]> => {
  const { processes } = quick ? QUICK : FULL;
  const queue = Array.from({ length: processes }, (_, round) =>
    jobs.filter(({ one }) => round === 0 || !one.once),
  ).flat();
  let done = 0;
  const found = await runAll(queue, quick ? 'quick' : 'full', quick ? 2 : 1, ({ one, sdk }) => {
    done += 1;
    say(`${String(done).padStart(2)} of ${queue.length}  ${one.id}, ${sdk}`);
  });
  return jobs.map((job) => ({ ...job, findings: joined(found.filter((_, index) => queue[index] === job)) }));
};

const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Commands that print and end. */
const COMMANDS: Readonly<Record<string, (args: string[]) => unknown>> = {
  defaults: (args) => process.exit(runDefaults(args)),
  benefit: (args) => process.exit(runBenefit(args)),
  outages: async (args) => (await import('../outages/command.ts')).runOutages(args, print),
  models: async () => print(await (await import('./models.ts')).modelsReport()),
  replay: async (args) => print(await (await import('./replay.ts')).replayReport(args)),
  relay: async (args) => print(await (await import('./relay/relay.ts')).relayReport(args)),
  path: async (args) => print(await (await import('./path/path.ts')).pathReport(args)),
  cold: async (args) => print(await (await import('./cold.ts')).coldReport(args)),
  series: async () => print(await (await import('./series.ts')).seriesReport()),
  bundle: async (args) => (await import('../bundle/command.ts')).runBundle(args, print),
  scrape: async (args) => print(await (await import('./scrape.ts')).scrapeReport(args)),
  fleet: async (args) => print(await (await import('./fleet/fleet-command.ts')).fleetReport(args)),
  faults: async (args) => print(await (await import('./fleet/fleet-command.ts')).faultsReport(args)),
  scale: async (args) => print(await (await import('./scale/scale-command.ts')).scaleReport(args)),
  size: async (args) => print(await (await import('./size.ts')).sizeReport(args)),
};

const [first = '', ...rest] = ownArguments();
if (Object.hasOwn(COMMANDS, first)) {
  await Promise.resolve(rest)
    .then(COMMANDS[first])
    .catch((error: Error) => giveUp(error.message));
  process.exit();
}
const options = readOptions();
if (options.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const { quick, write } = options;
const pace = quick ? QUICK : FULL;
if (write && (quick || options.only !== undefined))
  giveUp('--write needs a full run of all cases, because its numbers are published. Leave out --quick and --only.');
const only = options.only?.split(',');
const unknown = only?.filter((id) => !CASES.some((one) => one.id === id)) ?? [];
if (unknown.length > 0) giveUp(`no case is called ${unknown.join(', ')}.\n\n${USAGE}`);

const jobs = CASES.filter(({ id }) => only?.includes(id) ?? true).flatMap((one) =>
  one.sdks.map((sdk) => ({ one, sdk })),
);
const before = load();
const begun = performance.now();
const found = await measureAll(jobs, quick).catch((error: Error) => giveUp(error.message));
const results: Results = {
  format: 1,
  date: new Date().toISOString().slice(0, 10),
  pace: quick ? 'quick' : 'full',
  tookSeconds: Math.round((performance.now() - begun) / 1_000),
  machine: describeMachine(before),
  cases: found.map((one) => caseResult(one, pace)),
  targets: TARGETS.map((target) => judge(target, found, pace)).filter((one) => one !== undefined),
};

print(report(results));
const json = `${JSON.stringify(results, null, 2)}\n`;
if (options.json !== undefined) writeFileSync(options.json, json);
if (write) {
  writeFileSync(RESULTS, json);
  writePages(results);
}
