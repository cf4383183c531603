import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { alertGroups, type RuleGroup, recordingGroups } from '../../alerts/src/prometheus.ts';
import { RECORDED } from '../../alerts/src/record.ts';
import { resolved } from '../../alerts/src/rules.ts';
import { allSeries, IN_MEMORY, SCRAPE, type Size, writeHistory } from './history.ts';
import { dashboards, type Request, requestsOf } from './refresh.ts';
import { remoteWrite } from './remote-write.ts';
import { type Server, startServer } from './server.ts';
import { scrapeShape } from './shape.ts';

/** What something cost Prometheus, in seconds. */
export interface Cost {
  readonly what: string;
  readonly wall: number;
  readonly cpu: number;
}

/** A dashboard's refresh. */
export interface Refresh extends Cost {
  readonly dashboard: string;
  /** `1 h` or `24 h`. */
  readonly view: string;
  /** What Prometheus rejected. */
  readonly errors: readonly string[];
}

export interface GroupCost extends Cost {
  /** Seconds between two evaluations. */
  readonly interval: number;
  readonly rules: readonly Cost[];
  readonly errors: readonly string[];
}

export interface Measured extends Size {
  /** Series of the agents. */
  readonly series: number;
  /** Series that the rules record. */
  readonly recorded: number;
  readonly refreshes: readonly Refresh[];
  readonly queries: readonly (Cost & { readonly dashboard: string; readonly view: string })[];
  readonly groups: readonly GroupCost[];
  /** Bytes, at most. */
  readonly memory: number;
}

export interface Options {
  /** Each query alone, to know what it costs. Default: false. */
  readonly each: boolean;
  /** Titles of the dashboards to measure, or the start of one. Default: all. */
  readonly only?: string | undefined;
}

const MS = 1000;
const HOUR = 3600;
const AT_ONCE = 6;
/** Evaluations of a rule. Their mean is given, because some of them pay for the garbage of the others. */
const ROUNDS = 5;
const BYTES_PER_SERIES = 12_000;
const GB = 1e9;

const cost = async (server: Server, what: string, work: () => Promise<unknown>): Promise<Cost> => {
  const [cpu, wall] = [server.cpu(), performance.now()];
  await work();
  return { what, cpu: server.cpu() - cpu, wall: (performance.now() - wall) / MS };
};

/** As many at once as a browser sends. */
const all = async (server: Server, requests: readonly Request[]): Promise<readonly string[]> => {
  const left = [...requests];
  const errors: string[] = [];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const error = await server.ask(next.path, next.parameters);
      if (error !== '') errors.push(`${next.what}: ${error}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return errors;
};

const measureGroup = async (server: Server, { name, interval, rules }: RuleGroup, end: number): Promise<GroupCost> => {
  const seconds =
    interval === undefined ? SCRAPE / MS : Number.parseInt(interval, 10) * (interval.endsWith('m') ? 60 : 1);
  const costs: Cost[] = [];
  const errors = new Set<string>();
  for (const { rule } of rules) {
    const what = rule.record ?? rule.alert ?? '';
    const { cpu, wall } = await cost(server, what, async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const error = await server.ask('query', { query: rule.expr, time: String(end) });
        if (error !== '') errors.add(`${what}: ${error}`);
      }
    });
    costs.push({ what, cpu: cpu / ROUNDS, wall: wall / ROUNDS });
  }
  const sum = (of: 'cpu' | 'wall'): number => costs.reduce((all, one) => all + one[of], 0);
  return { what: name, cpu: sum('cpu'), wall: sum('wall'), interval: seconds, rules: costs, errors: [...errors] };
};

/** @throws Error if the machine has not enough memory or space for that many series */
const checkRoom = (series: number): void => {
  const { bavail, bsize } = statfsSync(tmpdir());
  const needed = series * BYTES_PER_SERIES;
  const room = Math.min(freemem(), bavail * bsize);
  if (room > needed) return;
  throw new Error(
    `${series} series need ${(needed / GB).toFixed(1)} GB of memory and as much in ${tmpdir()}, and only ${(room / GB).toFixed(1)} GB are free. Measure fewer agents or tools.`,
  );
};

/** Writes the history, starts Prometheus over it, and measures all dashboards and rules. Leaves nothing behind. */
export const measure = async (size: Size, { each, only = '' }: Options): Promise<Measured> => {
  const end = Math.floor(Date.now() / SCRAPE) * SCRAPE;
  const stored = allSeries(await scrapeShape(size.tools), size);
  checkRoom(stored.length);
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-bundle-'));
  let server: Server | undefined;
  try {
    mkdirSync(join(folder, 'data'));
    writeHistory(join(folder, 'data'), stored, end);
    server = await startServer(folder);
    // Prometheus takes no samples that are more than an hour older than the newest.
    const middle = end - IN_MEMORY / 2;
    await remoteWrite(server.url, stored, end - IN_MEMORY, middle);
    await remoteWrite(server.url, stored, middle + 1, end);
    return { ...size, ...(await measured(server, end / MS, each, only)), ...counted(stored) };
  } finally {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

const counted = (stored: ReturnType<typeof allSeries>): Pick<Measured, 'series' | 'recorded'> => {
  const series = stored.filter(({ labels }) => !/:|^ALERTS/.test(labels[0]?.[1] ?? '')).length;
  return { series, recorded: stored.length - series };
};

type Found = Pick<Measured, 'refreshes' | 'queries' | 'groups' | 'memory'>;

const measured = async (server: Server, end: number, each: boolean, only: string): Promise<Found> => {
  const refreshes: Refresh[] = [];
  const queries: Found['queries'][number][] = [];
  let memory = server.memory();
  for (const { title, json } of dashboards().filter((one) => one.title.startsWith(only))) {
    for (const { view, range } of VIEWS) {
      const requests = requestsOf(json, { range, end }, RECORDED.notClosed);
      let errors: readonly string[] = [];
      const whole = await cost(server, `${title}, ${view}`, async () => {
        errors = await all(server, requests);
      });
      refreshes.push({ ...whole, dashboard: title, view, errors });
      memory = Math.max(memory, server.memory());
      for (const one of each ? requests : []) {
        queries.push({
          ...(await cost(server, one.what, () => server.ask(one.path, one.parameters))),
          dashboard: title,
          view,
        });
      }
    }
  }
  const options = resolved({});
  const groups: GroupCost[] = [];
  for (const group of only === '' || only === 'rules' ? [...recordingGroups(options), ...alertGroups(options)] : []) {
    groups.push(await measureGroup(server, group, end));
  }
  return { refreshes, queries, groups, memory: Math.max(memory, server.memory()) };
};

const VIEWS = [
  { view: '1 h', range: HOUR },
  { view: '24 h', range: 24 * HOUR },
] as const;
