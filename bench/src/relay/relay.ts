import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { packedWorkspace } from '../../../test/newcomer/pack.ts';
import { table } from '../print.ts';
import { quantile, spreadOf } from '../stats.ts';
import { type Chain, startChain } from './chain.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const SERVER = here('server.mjs');

interface Way {
  readonly title: string;
  /** What is between the client and the server. */
  readonly args: readonly string[];
}

const SIZES = { '1 KB': 1_000, '64 KB': 64_000 } as const;
const MESSAGE_MB = 10;
const MESSAGE = MESSAGE_MB * 1024 * 1024 - 1024; // The SDKs take at most 10 MiB.

/** Calls of one way at a time, before the others have their turn: what else the machine does is spread over all ways. */
const BLOCK = 50;
/** How many parts of a run are looked at. */
const PARTS = 10;
/** Milliseconds without a call, after which a process counts as at rest. */
const REST_MS = 2_000;

/** The command as a release publishes it. The first way is what the others are compared with. */
const findWays = async (): Promise<readonly Way[]> => {
  const main = join(await packedWorkspace(), 'packages/cli/dist/main.js');
  return [
    { title: 'directly', args: [SERVER] },
    { title: 'breakerbox mcp', args: [main, 'mcp', '--', process.execPath, SERVER] },
    { title: 'with --prometheus', args: [main, 'mcp', '--prometheus', '0', '--', process.execPath, SERVER] },
    { title: 'proxy with the SDK', args: [here('sdk-proxy.mjs'), process.execPath, SERVER] },
  ];
};

const each = async <Found>(ways: readonly Way[], look: (way: Way) => Promise<Found>): Promise<Found[]> => {
  const found: Found[] = [];
  for (const way of ways) found.push(await look(way));
  return found;
};

const withChain = async <Found>({ args }: Way, use: (chain: Chain) => Promise<Found>): Promise<Found> => {
  const chain = await startChain(args);
  try {
    return await use(chain);
  } finally {
    await chain.close();
  }
};

/** The calls of a way. */
interface Calls {
  /** Milliseconds of each. */
  readonly ms: number[];
  /** Milliseconds of processor time of the first process, for each call. */
  cpuMs: number;
}

const timeCalls = async (ways: readonly Way[], size: number, rounds: number): Promise<readonly Calls[]> => {
  const chains = await each(ways, ({ args }) => startChain(args));
  const found = chains.map((): Calls => ({ ms: [], cpuMs: 0 }));
  const text = 'x'.repeat(size);
  const block = async (chain: Chain, ms: number[]): Promise<void> => {
    for (let call = 0; call < BLOCK; call += 1) ms.push(await chain.call({ text }));
  };
  for (const chain of chains) for (let round = 0; round < 5; round += 1) await block(chain, []);
  const before = chains.map((chain) => chain.cpuMs());
  for (let round = 0; round < rounds; round += 1)
    for (const [index, chain] of chains.entries()) await block(chain, found[index]?.ms ?? []);
  for (const [index, one] of found.entries())
    one.cpuMs = ((chains[index]?.cpuMs() ?? 0) - (before[index] ?? 0)) / one.ms.length;
  for (const chain of chains) await chain.close();
  return found;
};

/** The median of the quantiles of {@link PARTS} parts of a run: what disturbs one part changes the others little. */
const medianQuantile = (values: readonly number[], share: number): number => {
  const size = Math.ceil(values.length / PARTS);
  const parts = Array.from({ length: PARTS }, (_, part) => values.slice(part * size, (part + 1) * size));
  return spreadOf(
    parts
      .filter(({ length }) => length > 0)
      .map((some) =>
        quantile(
          some.toSorted((a, b) => a - b),
          share,
        ),
      ),
  ).median;
};

const callTable = async (ways: readonly Way[], name: keyof typeof SIZES, rounds: number): Promise<string> => {
  const calls = await timeCalls(ways, SIZES[name], rounds);
  const [p50, p99] = [0.5, 0.99].map((share) => calls.map((some) => medianQuantile(some.ms, share)));
  const ms = (value: number | undefined): string => (value ?? Number.NaN).toFixed(2);
  const above = (values: number[] | undefined, index: number): string =>
    index === 0 ? '' : ms((values?.[index] ?? 0) - (values?.[0] ?? 0));
  return table([
    [`A call of ${name}, and as much back`, 'p50, ms', 'above', 'p99, ms', 'above', 'own CPU, ms'],
    ...ways.map(({ title }, index) => [
      title,
      ms(p50?.[index]),
      above(p50, index),
      ms(p99?.[index]),
      above(p99, index),
      index === 0 ? '' : ms(calls[index]?.cpuMs),
    ]),
  ]);
};

const startTable = async (ways: readonly Way[], rounds: number): Promise<string> => {
  const times = ways.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, way] of ways.entries()) times[index]?.push(await withChain(way, async ({ startMs }) => startMs));
  const medians = times.map((some) => spreadOf(some).median);
  return table([
    ['Start, to the answer to `initialize`', 'ms', 'above'],
    ...ways.map(({ title }, index) => [
      title,
      (medians[index] ?? 0).toFixed(0),
      index === 0 ? '' : ((medians[index] ?? 0) - (medians[0] ?? 0)).toFixed(0),
    ]),
  ]);
};

const mb = (value: number): string => value.toFixed(0);

/** The most memory above rest while one message of {@link MESSAGE_MB} passes, in MB. */
const peakAbove = (way: Way, call: object): Promise<string> =>
  withChain(way, async (chain) => {
    await after(REST_MS);
    const rest = chain.restMb();
    await chain.call(call);
    return mb(chain.peakMb() - rest);
  });

const memoryTable = async (ways: readonly Way[]): Promise<string> => {
  const rows = await each(ways, async (way) => {
    const rest = await withChain(way, async (chain) => {
      for (let call = 0; call < 200; call += 1) await chain.call({ text: 'x'.repeat(1_000) });
      await after(REST_MS);
      return mb(chain.restMb());
    });
    const toServer = await peakAbove(way, { text: 'x'.repeat(MESSAGE), size: 1 });
    const toClient = await peakAbove(way, { text: '', size: MESSAGE });
    return [way.title, rest, toServer, toClient];
  });
  const between = rows.slice(1); // The first is the server's own process.
  const size = `${MESSAGE_MB} MB`;
  return table([
    ['Memory of the process in between, MB', 'at rest', `above, ${size} to the server`, `above, ${size} to the client`],
    ...between,
  ]);
};

/** `npm run bench -- relay`: what `breakerbox mcp` costs beside a direct connection and a proxy that is made with the SDK (M10). */
export const relayReport = async (args: string[]): Promise<string> => {
  const { values } = parseArgs({ args, options: { quick: { type: 'boolean', default: false } } });
  const ways = await findWays();
  const rounds = values.quick ? 2 : 100;
  return [
    await callTable(ways, '1 KB', rounds),
    await callTable(ways, '64 KB', rounds),
    await startTable(ways, values.quick ? 2 : 15),
    await memoryTable(ways),
    'Goals of breakerbox mcp (M10): p99 less than 1 ms above a direct call, 80 MB at rest, 30 MB above it for a message of 10 MB, 300 ms to start.',
  ].join('\n\n');
};
