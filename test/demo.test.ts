import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, type TestContext, test, vi } from 'vitest';
import type { DemoReport } from '../packages/cli/src/demo/report.ts';
import { childrenOf, isAlive } from './processes.ts';

const MAIN = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url));

interface Demo {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What it has printed so far. */
  text(): string;
  /** Resolves with its exit code. */
  readonly exit: Promise<number | null>;
}

/** `breakerbox demo` as a user starts it, on a free port. */
const startDemo = ({ onTestFinished }: TestContext, args: readonly string[], env: NodeJS.ProcessEnv = {}): Demo => {
  const child = spawn(process.execPath, ['--conditions=breakerbox-source', MAIN, 'demo', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { pid } = child;
  if (pid === undefined) throw new Error('the demo could not be started');
  // 'close' and not 'exit': by then all of its output has arrived.
  return { child, pid, text: () => text, exit: once(child, 'close').then(([code]) => code as number | null) };
};

/** An OTLP receiver that counts the requests it got. */
const startReceiver = async (): Promise<{ server: Server; url: string; requests: () => number }> => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume().on('end', () => response.writeHead(200).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests };
};

describe('breakerbox demo', () => {
  test.concurrent('in 90 s a circuit opens, probes and closes, a budget runs out, an outage is one event, and alerts arrive', async (context) => {
    const demo = startDemo(context, ['--for', '90s', '--json']);
    const seen = new Set<number>();
    const watching = setInterval(() => {
      for (const pid of childrenOf(demo.pid)) seen.add(pid);
    }, 1_000);
    expect(await demo.exit).toBe(0);
    clearInterval(watching);

    const { circuits, budgets, systemic, alerts, stack } = JSON.parse(demo.text()) as DemoReport;
    expect(stack).toEqual({ prometheus: 'running', alertmanager: 'running' });
    const of = (tool: string, agent: string) =>
      circuits.transitions
        .filter((one) => one.tool === tool && one.agent === agent)
        .map(({ from, to }) => `${from}>${to}`);
    expect(of('lookup_order', 'support-agent')).toEqual(
      expect.arrayContaining(['closed>open', 'open>half_open', 'half_open>closed']),
    );
    expect(budgets.exhausted).toBeGreaterThanOrEqual(1);
    expect(
      systemic.map(({ agent, category, tools }) => ({ agent, category, tools: [...tools].sort() })),
    ).toContainEqual({
      agent: 'research-agent',
      category: 'network',
      tools: ['get_weather', 'web_search'],
    });
    const names = new Set(
      alerts.delivered.filter(({ status }) => status === 'firing').map(({ labels }) => labels.alertname),
    );
    expect(names.size).toBeGreaterThanOrEqual(2);
    expect(alerts.inhibited.map(({ labels }) => labels.alertname)).toContain('BreakerboxCircuitOpen');

    // Prometheus, Alertmanager and the MCP server at least; and nothing is left of them.
    expect(seen.size).toBeGreaterThanOrEqual(3);
    expect([...seen].filter(isAlive)).toEqual([]);
  });

  test.concurrent('killing Prometheus, Alertmanager and the OTLP receiver disturbs no agent', async (context) => {
    const receiver = await startReceiver();
    context.onTestFinished(() => void receiver.server.close());
    const demo = startDemo(context, ['--for', '30s'], {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_METRICS_EXPORTER: 'prometheus',
      OTEL_BSP_SCHEDULE_DELAY: '200',
    });
    const metrics = await vi.waitFor(
      () => {
        const [, url] = /metrics +(http:\S+)/.exec(demo.text()) ?? [];
        if (url === undefined) throw new Error('the demo has not said where its metrics are');
        expect(demo.text()).toMatch(/alertmanager +http/);
        return url;
      },
      { timeout: 20_000, interval: 200 },
    );
    await vi.waitFor(() => expect(receiver.requests()).toBeGreaterThan(0), { timeout: 10_000 });

    const killed = childrenOf(demo.pid, /prometheus|alertmanager/);
    expect(killed).toHaveLength(2);
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    receiver.server.closeAllConnections();
    receiver.server.close();
    await vi.waitFor(() => expect(demo.text().match(/ is down /g)).toHaveLength(2), { timeout: 10_000 });

    const calls = async () => {
      const text = await (await fetch(metrics)).text();
      const counts = text.matchAll(/^breakerbox_decisions_total\{[^}]*breakerbox_decision="call"[^}]*\} (\d+)/gm);
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const before = await calls();
    await vi.waitFor(async () => expect(await calls()).toBeGreaterThan(before + 20), {
      timeout: 20_000,
      interval: 500,
    });
    expect(await demo.exit).toBe(0);
    expect(demo.text()).toContain('Breakerbox demo, 00:30 long');
  });
});
