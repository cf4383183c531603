import { once } from 'node:events';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'vitest';
import { replayFiles } from '../packages/cli/src/replay/replay.ts';
import { type Parity, tallySimulation } from '../packages/cli/src/replay/simulation-tally.ts';
import { AGENT_NAMES } from '../packages/demo/src/agent-names.ts';
import { createAgents, type World } from '../packages/demo/src/agents.ts';

/** An OTLP receiver that writes traces into a file, as the Collector's file exporter does. */
export const startTraceFile = async ({
  onTestFinished,
}: TestContext): Promise<{ readonly path: string; readonly env: NodeJS.ProcessEnv }> => {
  const folder = await mkdtemp(join(tmpdir(), 'breakerbox-traces-'));
  const path = join(folder, 'traces.jsonl');
  const server = createServer(async (request, response) => {
    const message = await text(request);
    if (request.url === '/v1/traces') await appendFile(path, `${message.replaceAll('\n', ' ')}\n`);
    response.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true });
  });
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_METRICS_EXPORTER: 'prometheus',
  };
  return { path, env };
};

/** Nothing of it is used: the agents are made for their configurations. */
const NO_WORLD = { services: new Proxy({}, { get: () => ({ url: 'http://127.0.0.1' }) }), mcp: {} } as World;

/** Replays the traces of a demo with the configuration of each agent. Pre-call checks are left out (T8). */
export const parityOf = async (path: string): Promise<Readonly<Record<string, Parity>>> => {
  const found: Record<string, Parity> = {};
  for (const { name, config } of createAgents(NO_WORLD, { names: AGENT_NAMES, pace: 1 })) {
    const { agent: _agent, clock: _clock, tools = {}, ...rest } = config;
    const unchecked = Object.entries(tools).map(([tool, { precheck: _precheck, ...own }]) => [tool, own]);
    const { observer, close } = tallySimulation(false);
    const replayed = { config: { ...rest, tools: Object.fromEntries(unchecked) }, observer };
    await replayFiles({ paths: [path], agent: name, simulations: [replayed] });
    found[name] = close().parity;
  }
  return found;
};
