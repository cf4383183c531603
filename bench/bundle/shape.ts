import { createBreakerbox } from '@breakerbox/core';
import { startTelemetry } from '@breakerbox/telemetry';
import { outage } from '../src/series.ts';

/** A series as a Prometheus stores it: its labels, in the order of their names, with `__name__` among them. */
export type Labels = readonly (readonly [name: string, value: string])[];

/** What happens to a series over time. */
export type Course =
  | { readonly kind: 'constant'; readonly value: number }
  /** A counter that grows by `step`, with each call of a healthy tool or each opening of a broken one. */
  | { readonly kind: 'counter'; readonly step: number; readonly rare: boolean }
  /** The Unix time of the last opening. */
  | { readonly kind: 'opened' };

export interface Shaped {
  readonly labels: Labels;
  readonly course: Course;
}

/** The series of one agent: healthy, or with one tool in an outage. */
export interface Shape {
  readonly healthy: readonly Shaped[];
  readonly troubled: readonly Shaped[];
}

const AGENT = 'AGENT';
/** The tool that is in an outage. */
export const BROKEN = 'tool-00';
const CALLS = 20;

export const toolNames = (tools: number): readonly string[] =>
  Array.from({ length: tools }, (_, index) => `tool-${String(index).padStart(2, '0')}`);

const sorted = (labels: [string, string][]): Labels => labels.toSorted(([a], [b]) => (a < b ? -1 : 1));

const SAMPLE = /^(?<name>\w+)\{(?<labels>.*)\} (?<value>\S+)$/;

/** A broken tool has an open circuit, and its counters grow with each opening. */
const courseOf = (name: string, kind: string | undefined, scraped: number, state: string | undefined): Course => {
  if (name.includes('opened_time')) return { kind: 'opened' };
  const value = name === 'breakerbox_circuits' && state !== undefined ? Number(state === 'open') : scraped;
  return value === 0 || kind === 'gauge'
    ? { kind: 'constant', value }
    : { kind: 'counter', step: value, rare: state !== undefined };
};

/** The series of an exposition. */
const parsed = (text: string, isBroken: boolean): readonly Shaped[] => {
  const kinds = new Map<string, string>();
  for (const [, name = '', kind = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) kinds.set(name, kind);
  return text.split('\n').flatMap((line) => {
    const { name = '', labels = '', value = '' } = SAMPLE.exec(line)?.groups ?? {};
    if (name === '') return [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
      ([, key = '', text = '']): [string, string] => [key, text],
    );
    const { gen_ai_tool_name: tool, breakerbox_state: state = '' } = Object.fromEntries(pairs);
    const course = courseOf(name, kinds.get(name), Number(value), isBroken && tool === BROKEN ? state : undefined);
    return [{ labels: sorted([['__name__', name], ...pairs]), course }];
  });
};

const scraped = async (tools: number, broken: boolean): Promise<readonly Shaped[]> => {
  const telemetry = startTelemetry({ serviceName: 'bench', prometheus: { port: 0 } });
  await telemetry.ready;
  try {
    const names = toolNames(tools);
    const box = createBreakerbox({ agent: AGENT, tools: Object.fromEntries(names.map((name) => [name, {}])) });
    const session = box.session();
    for (const name of names) {
      if (broken && name === BROKEN) continue;
      for (let call = 0; call < CALLS; call += 1) session.acquire(name).settle({ outcome: 'success' });
    }
    if (broken) outage(session, BROKEN);
    return parsed(await (await fetch(telemetry.metricsUrl ?? '')).text(), broken);
  } finally {
    await telemetry.shutdown();
  }
};

const shapes = new Map<number, Promise<Shape>>();

/**
 * The series of an agent, from two scrapes of the real exporter, so that they follow the telemetry contract. Once for all runs: a later
 * scrape also has the series of the outage before it.
 */
export const scrapeShape = (tools: number): Promise<Shape> => {
  const known = shapes.get(tools);
  if (known !== undefined) return known;
  const shape = scraped(tools, false).then(async (healthy) => ({ healthy, troubled: await scraped(tools, true) }));
  shapes.set(tools, shape);
  return shape;
};

/** Every tenth agent has one tool in an outage. */
export const isTroubled = (agent: number): boolean => agent % 10 === 0;

/** The series of an agent, with its names and the labels that a scrape adds. */
export const ofAgent = (shape: Shape, agent: number): readonly Shaped[] => {
  return (isTroubled(agent) ? shape.troubled : shape.healthy).map(({ labels, course }) => ({
    course,
    labels: sorted([
      ...labels.map(([name, value]): [string, string] => [name, value === AGENT ? agentName(agent) : value]),
      ['instance', instanceOf(agent)],
      ['job', JOB],
    ]),
  }));
};

export const JOB = 'agents';
export const agentName = (agent: number): string => `agent-${String(agent).padStart(3, '0')}`;
export const instanceOf = (agent: number): string => `host-${String(agent).padStart(3, '0')}:9464`;
