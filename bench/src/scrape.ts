import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { table } from './print.ts';

const AGENT = fileURLToPath(new URL('scrape-agent.ts', import.meta.url));
const LOOP_MS = 10_000;
const QUIET_MS = 3000;
/** As many as the agent accepts. */
const CROWD = 50;

interface Seen {
  /** The longest turn of the agent's event loop, in milliseconds of CPU. */
  readonly longestMs: number;
  /** Of a timer of 10 ms: the share of ticks that came. */
  readonly ticks: number;
}

/** What scrapes do to the agent that answers them. */
export interface ScrapeCost {
  readonly series: number;
  readonly megabytes: number;
  readonly quiet: Seen;
  readonly first: Seen;
  readonly second: Seen;
  /** One client that asks again as soon as it has the answer. */
  readonly loop: Seen & { readonly answers: number };
  /** {@link CROWD} clients that ask at once and read no answer. */
  readonly crowd: Seen;
}

const answerOf = async <Answer>(agent: ChildProcess): Promise<Answer> => {
  const [message] = (await once(agent, 'message')) as [Answer];
  return message;
};

const seenBy = async (agent: ChildProcess): Promise<Seen> => {
  agent.send('measure');
  return answerOf<Seen>(agent);
};

/** Asks with {@link CROWD} connections, and closes them later. */
const neverRead = async ({ hostname, port, pathname }: URL): Promise<void> => {
  const sockets = Array.from({ length: CROWD }, () => {
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    socket.pause().write(`GET ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
    return socket;
  });
  await pause(QUIET_MS);
  for (const socket of sockets) socket.destroy();
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Measures scrapes of an agent process. */
export const measureScrapes = async (agents = 20, tools = 200, loopMs = LOOP_MS): Promise<ScrapeCost> => {
  const agent = fork(AGENT, [`${agents}`, `${tools}`], { execArgv: ['--conditions=breakerbox-source'] });
  try {
    const { url } = await answerOf<{ url: string }>(agent);
    const scrape = async (): Promise<string> => (await fetch(url)).text();
    const after = async (some: Promise<unknown>): Promise<Seen> => {
      await some;
      return seenBy(agent);
    };
    await seenBy(agent); // The start of the process.
    const quiet = await after(pause(QUIET_MS));
    const first = await after(scrape());
    await after(pause(QUIET_MS)); // Until no answer is kept.
    const second = await after(scrape());
    const text = await scrape();
    await seenBy(agent);
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    let answers = 0;
    const until = performance.now() + loopMs;
    while (performance.now() < until) {
      await scrape();
      answers += 1;
    }
    const loop = { ...(await seenBy(agent)), answers };
    await after(pause(QUIET_MS));
    const crowd = await after(neverRead(new URL(url)));
    return { series: lines.length, megabytes: text.length / 1e6, quiet, first, second, loop, crowd };
  } finally {
    agent.disconnect();
  }
};

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const row = (what: string, { longestMs, ticks }: Seen): readonly string[] => [
  what,
  `${longestMs.toFixed(1)} ms`,
  percent(ticks),
];

/** `npm run bench -- scrape`: what readers of `/metrics` cost an agent with 88,000 series. */
export const scrapeReport = async (args: readonly string[]): Promise<string> => {
  const found = await measureScrapes(...(args.includes('--quick') ? ([1, 20, 1000] as const) : []));
  return `${found.series.toLocaleString('en')} series, ${found.megabytes.toFixed(1)} MB\n\n${table([
    ['scrapes', 'longest turn, CPU', 'ticks of a 10 ms timer'],
    row('none', found.quiet),
    row('the first', found.first),
    row('one later', found.second),
    row(`${CROWD} clients that never read`, found.crowd),
    row(`one client in a loop, ${found.loop.answers} answers in ${LOOP_MS / 1000} s`, found.loop),
  ])}\n`;
};
