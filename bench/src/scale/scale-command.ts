import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { withMarked } from '../marked.ts';
import { table } from '../print.ts';
import { markdownTable } from '../tables.ts';
import { answerBytes, requestBytes } from './bytes.ts';
import { type Measured, measureRedis } from './measure-redis.ts';
import { callsUntilKnown, type FleetShape, knownMs, readsPerSecond } from './model.ts';
import { type Simulated, type Simulation, simulate } from './simulate.ts';

const PAGE = new URL('../../../docs/scale.md', import.meta.url);
const FILE = 'docs/scale.md';

/** The fleet of the page: an agent calls the tool every five seconds. */
export const SHAPE: Omit<FleetShape, 'processes'> = {
  callsPerSecond: 0.2,
  threshold: 3,
  quorum: 2,
  scriptMs: 0.03,
  hints: true,
};
/** Some rounds of probes fail, and then one succeeds. */
export const OUTAGE = { cooldownMs: 10_000, outageMs: 30_000 } as const;
const SIZES = [100, 1_000, 10_000] as const;

const many = (value: number): string => Math.round(value).toLocaleString('en');
const NONE = '–';
const orNone = (value: number): string => (Number.isFinite(value) ? many(value) : NONE);

type Rows = readonly (readonly string[])[];

const healthyRows = (found: readonly (readonly [FleetShape, Simulated])[]): Rows => [
  ['A healthy fleet', 'reads a second', 'by the formula', 'writes', 'KB a second', 'by the formula'],
  ...found.map(([shape, { healthy }]) => [
    `${many(shape.processes)} processes`,
    many(healthy.scriptsPerSecond),
    many(readsPerSecond(shape)),
    many(healthy.writes),
    many(healthy.bytesPerSecond / 1_000),
    many((readsPerSecond(shape) * (requestBytes('read') + answerBytes(undefined))) / 1_000),
  ]),
];

const outageRows = (found: readonly (readonly [FleetShape, Simulated, Simulated])[]): Rows => [
  [
    'An outage',
    'calls until all know',
    'by the formula',
    'calls if each learns alone',
    'half know after, ms',
    'by the formula',
    '99 % know after, ms',
    'by the formula',
    'probes',
    'probes if alone',
    'writes',
    'most scripts a second',
    '99 % may call again after, ms',
  ],
  ...found.map(([shape, shared, alone]) => [
    `${many(shape.processes)} processes${shape.hints ? '' : ', all hints lost'}`,
    many(shared.calls),
    many(callsUntilKnown(shape, shared.quorumMs)),
    many(alone.calls),
    many(shared.knownP50Ms),
    many(knownMs(shape, 0.5)),
    many(shared.knownP99Ms),
    many(knownMs(shape, 0.99)),
    many(shared.probes),
    many(alone.probes),
    many(shared.writes),
    many(shared.peakPerSecond),
    orNone(shared.againP99Ms),
  ]),
];

const memoryRows = ({
  fleets,
  scriptsPerSecond,
  bytesPerScript,
  microsecondsPerScript,
  memoryBytes,
}: Measured): Rows => [
  ['A real Redis, for each process', 'measured', 'for 10,000'],
  ['scripts a second', scriptsPerSecond.toFixed(2), many(scriptsPerSecond * 10_000)],
  [
    'bytes of a read and its answer',
    many(bytesPerScript),
    `${many((scriptsPerSecond * bytesPerScript * 10_000) / 1_000)} KB a second`,
  ],
  [
    'microseconds of a read, as Redis measures it',
    microsecondsPerScript.toFixed(1),
    `${many(scriptsPerSecond * microsecondsPerScript)} % of a core`,
  ],
  ['memory of its two connections, KB', many(memoryBytes / 1_000), `${many((memoryBytes * 10_000) / 1e6)} MB`],
  ['connections', '2', '20,000'],
  [`fleets that were connected`, many(fleets), NONE],
];

/** `npm run bench -- scale`: computes and simulates a fleet, beside processes that learn alone. */
export const scaleReport = async (args: string[]): Promise<string> => {
  const { values } = parseArgs({
    args,
    options: { write: { type: 'boolean', default: false }, quick: { type: 'boolean', default: false } },
  });
  const sizes = values.quick ? SIZES.slice(0, 1) : SIZES;
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  const alone = new Map<number, Simulated>();
  const play = async (shape: FleetShape): Promise<readonly [FleetShape, Simulated, Simulated]> => {
    say(`${many(shape.processes)} processes${shape.hints ? '' : ', all hints lost'}`);
    const one: Simulation = { ...shape, ...OUTAGE, seed: 1, shared: true };
    alone.set(shape.processes, alone.get(shape.processes) ?? (await simulate({ ...one, shared: false })));
    return [shape, await simulate(one), alone.get(shape.processes) as Simulated];
  };
  const found: (readonly [FleetShape, Simulated, Simulated])[] = [];
  for (const processes of sizes) found.push(await play({ ...SHAPE, processes }));
  found.push(await play({ ...SHAPE, processes: sizes.at(-1) ?? 0, hints: false }));
  say('a real Redis');
  const measured = await measureRedis(values.quick ? 20 : 250);
  const rows = [
    healthyRows(found.filter(([{ hints }]) => hints).map(([shape, shared]) => [shape, shared])),
    outageRows(found),
    memoryRows(measured),
  ];
  if (values.write && !values.quick)
    writeFileSync(PAGE, withMarked(readFileSync(PAGE, 'utf8'), 'scale', rows.map(markdownTable).join('\n\n'), FILE));
  return rows.map(table).join('\n\n');
};
