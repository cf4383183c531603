import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Breakerbox, createBreakerbox } from '@breakerbox/core';
import { registerBreakerboxMetrics } from '@breakerbox/telemetry/prom-client';
import { Registry } from 'prom-client';
import type { Contestant, Findings, Measure, Pace } from '../contest.ts';
import { byHand } from '../ours.ts';
import { type Opossum, opossumCircuit, opossumMetrics } from '../peers.ts';
import { caught, failsAtZero, NEVER } from '../tool.ts';

const AGENTS = 5;
const TOOLS_PER_AGENT = 200;

const numbered = (count: number, name: string): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${name}_${index + 1}`);

const NAMES = numbered(TOOLS_PER_AGENT, 'tool');

/** An endpoint to scrape. */
interface Endpoint extends Contestant {
  readonly url: string;
  /** The label that identifies a tool in the text. */
  readonly toolLabel: RegExp;
  close(): Promise<unknown>;
}

const serve = async (render: () => string | Promise<string>): Promise<{ url: string; server: Server }> => {
  const server = createServer(async (_request, response) => response.end(await render()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`, server };
};

const closing = (server: Server) => () =>
  new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });

const OUR_LABELS = /gen_ai_agent_name="([^"]+)",gen_ai_tool_name="([^"]+)"/g;

const ourEndpoints = async (metricsUrl: string): Promise<readonly Endpoint[]> => {
  const registry = new Registry();
  registerBreakerboxMetrics(registry);
  const bridge = await serve(() => registry.metrics());
  return [
    {
      id: 'start-telemetry',
      title: 'Breakerbox, /metrics of startTelemetry()',
      by: 'breakerbox',
      url: metricsUrl,
      toolLabel: OUR_LABELS,
      close: async () => {},
    },
    {
      id: 'prom-client',
      title: 'Breakerbox, in a prom-client registry',
      by: 'breakerbox',
      url: bridge.url,
      toolLabel: OUR_LABELS,
      close: closing(bridge.server),
    },
  ];
};

const opossumEndpoint = async (circuits: readonly Opossum[]): Promise<Endpoint> => {
  const metrics = opossumMetrics(circuits);
  const { url, server } = await serve(() => metrics.metrics);
  const about = { id: 'opossum-prometheus', title: 'opossum-prometheus', by: 'opossum-prometheus' } as const;
  return { ...about, url, toolLabel: /name="([^"]+)"/g, close: closing(server) };
};

const makeBoxes = (): readonly Breakerbox[] =>
  numbered(AGENTS, 'agent').map((agent) =>
    createBreakerbox({
      agent,
      tools: Object.fromEntries(NAMES.map((name) => [name, {}])),
      budget: { failures: NEVER },
    }),
  );

/** A success and a failure of every tool. */
const useAll = async (boxes: readonly Breakerbox[], circuits: readonly Opossum[]): Promise<void> => {
  for (const box of boxes) {
    const session = box.session();
    for (const name of NAMES) {
      const call = byHand(session, failsAtZero, name);
      await call(1);
      await caught(() => call(0))();
    }
  }
  for (const circuit of circuits) {
    await circuit.fire(1);
    await caught(() => circuit.fire(0))();
  }
};

const scrape = async (url: string): Promise<{ text: string; ms: number }> => {
  const begun = performance.now();
  const text = await (await fetch(url)).text();
  return { text, ms: performance.now() - begun };
};

const factsOf = (text: string, toolLabel: RegExp): Record<string, number> => ({
  bytes: Buffer.byteLength(text),
  gzipBytes: gzipSync(text).length,
  series: text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length,
  tools: new Set([...text.matchAll(toolLabel)].map(([, ...names]) => names.join(' '))).size,
});

const scrapeAll = async (endpoints: readonly Endpoint[], suffix: string, { rounds }: Pace): Promise<Findings> => {
  const samples: Record<string, number[]> = {};
  const facts: Record<string, Record<string, number>> = {};
  for (let round = 0; round <= rounds; round += 1) {
    for (const { id, url, toolLabel } of endpoints) {
      const row = id + suffix;
      const { text, ms } = await scrape(url);
      facts[row] ??= factsOf(text, toolLabel);
      samples[row] ??= [];
      if (round > 0) samples[row].push(ms);
    }
  }
  return {
    contestants: endpoints.map(({ id, title, by }) => ({ id: id + suffix, title: title + say(suffix), by })),
    samples,
    facts,
  };
};

const DECLARED = '-declared';
const say = (suffix: string): string => (suffix === DECLARED ? ', tools declared' : ', tools used');

/** A large scrape: every series that five agents with 200 tools each have. */
export const measure: Measure = async (pace, _sdk, { metricsUrl = '' }) => {
  const boxes = makeBoxes();
  const circuits = boxes.flatMap(({ agent }) =>
    NAMES.map((name) => opossumCircuit(failsAtZero, { name: `${agent} ${name}`, errorThresholdPercentage: 100 })),
  );
  const endpoints = [...(await ourEndpoints(metricsUrl)), await opossumEndpoint(circuits)];
  const declared = await scrapeAll(endpoints, DECLARED, pace);
  await useAll(boxes, circuits);
  const used = await scrapeAll(endpoints, '', pace);
  for (const { close } of endpoints) await close();
  return {
    contestants: [...declared.contestants, ...used.contestants],
    samples: { ...declared.samples, ...used.samples },
    facts: { ...declared.facts, ...used.facts },
  };
};
