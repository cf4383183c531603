import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, type TestContext, test, vi } from 'vitest';
import type { DemoReport } from '../packages/demo/src/demo-report.ts';
import { INCIDENTS } from '../packages/demo/src/incidents.ts';
import { parityOf, startTraceFile } from './demo-parity.ts';
import { childrenOf, commandOf, isAlive } from './processes.ts';

const MAIN = fileURLToPath(new URL('../packages/demo/src/main.ts', import.meta.url));

interface Demo {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Everything that it has printed so far. */
  text(): string;
  /** Resolves with its exit code. */
  readonly exit: Promise<number | null>;
}

/** `npm run demo` as a user starts it, on a free port. */
const startDemo = ({ onTestFinished }: TestContext, args: readonly string[], env: NodeJS.ProcessEnv = {}): Demo => {
  const child = spawn(process.execPath, ['--conditions=breakerbox-source', MAIN, '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { pid } = child;
  if (pid === undefined) throw new Error('the demo did not start');
  // 'close' and not 'exit', because then all of its output has arrived.
  return { child, pid, text: () => text, exit: once(child, 'close').then(([code]) => code as number | null) };
};

/** An OTLP receiver that counts its requests. */
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

/** The URL of a demo's Prometheus; undefined until it runs. */
const prometheusOf = (demo: Demo): string | undefined => {
  const [pid = 0] = childrenOf(demo.pid, /--storage\.tsdb\.path/);
  const [, address] = /--web\.listen-address=(\S+)/.exec(commandOf(pid) ?? '') ?? [];
  return address && `http://${address}`;
};

/** The values of an expression by one of its labels. Rejects if Prometheus doesn't answer. */
const query = async (prometheus: string, expression: string, label: string): Promise<Record<string, number>> => {
  const response = await fetch(`${prometheus}/api/v1/query?${new URLSearchParams({ query: expression })}`);
  const { data } = (await response.json()) as {
    data: { result: { metric: Record<string, string>; value: [number, string] }[] };
  };
  return Object.fromEntries(data.result.map(({ metric, value }) => [metric[label] ?? '', Number(value[1])]));
};

/** Prometheus' series of routing, scope and freshness. */
const reading = async (prometheus: string) => {
  const by = (label: string, selector: string) => query(prometheus, `sum by (${label}) (${selector})`, label);
  return {
    routes: await by('breakerbox_route', 'breakerbox_routes_total'),
    inPlace: await by('breakerbox_degradation', 'breakerbox_routes_total{gen_ai_tool_name="web_search"}'),
    tasks: await by('breakerbox_disposition', 'breakerbox_tasks_total'),
    labels: await by('breakerbox_freshness_label', 'breakerbox_freshness_total'),
    reasons: await by('breakerbox_reason', 'breakerbox_decisions_total'),
  };
};

const positive: number = expect.toSatisfy((value: number) => value > 0, 'is above 0');

describe('npm run demo', () => {
  test.concurrent('T8: in 90 s a circuit opens and closes, a budget is exhausted, an outage is one event, alerts arrive, and a replay decides the same', async (context) => {
    const traces = await startTraceFile(context);
    const demo = startDemo(context, ['--for', '90s', '--json'], traces.env);
    const seen = new Set<number>();
    let last: Awaited<ReturnType<typeof reading>> | undefined;
    const watching = setInterval(() => {
      for (const pid of childrenOf(demo.pid)) seen.add(pid);
      const prometheus = prometheusOf(demo);
      // Prometheus has not started yet, or is gone. The latest answer counts.
      if (prometheus !== undefined) {
        reading(prometheus).then(
          (value) => {
            last = value;
          },
          () => undefined,
        );
      }
    }, 1_000);
    expect(await demo.exit).toBe(0);
    clearInterval(watching);

    const done = JSON.parse(demo.text()) as DemoReport;
    const { circuits, budgets, systemic, alerts, stack } = done;
    expect(stack).toEqual({ prometheus: 'running', alertmanager: 'running' });
    const of = (tool: string, agent: string) =>
      circuits.transitions
        .filter((one) => one.tool === tool && one.agent === agent)
        .map(({ from, to }) => `${from}>${to}`);
    expect(of('lookup_order', 'support-agent')).toEqual(
      expect.arrayContaining(['closed>open', 'open>half_open', 'half_open>closed']),
    );
    // C13: when the MCP server is killed, the group of its tools opens, and one probe closes it for all of them.
    expect(of('group:everything', 'ops-agent')).toEqual(
      expect.arrayContaining(['closed>open', 'open>half_open', 'half_open>closed']),
    );
    expect(budgets.exhausted).toBeGreaterThanOrEqual(1);
    // B1: an outage of one tool costs one failure. Only ops-agent, whose budget is strict, exhausts its budget.
    expect(new Set(budgets.events.map(({ agent }) => agent))).toEqual(new Set(['ops-agent']));
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

    // L5, L7: while the provider of the first model is down, the second one answers each call of the agent.
    expect(of('model:anthropic/claude', 'support-agent')).toEqual(
      expect.arrayContaining(['closed>open', 'open>half_open', 'half_open>closed']),
    );
    expect(of('model:openai/gpt', 'support-agent')).toEqual([]);

    expect(alerts.messages).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          title: 'Warning: support-agent: model:openai/gpt answers for model:anthropic/claude (server)',
        }),
        expect.objectContaining({
          title: expect.stringMatching(/^Warning: research-agent: web_search is out of use \((server|network)\)$/),
          text: expect.stringMatching(
            /^1 firing, job breakerbox · <.*\|Runbook>\n• Since .+: web_search of agent research-agent [\s\S]*\|Dashboard> · <http:\/\/127\.0\.0\.1:\d+\/#agent=research-agent&amp;tool=web_search\|Act>$/,
          ),
          link: expect.stringMatching(/^http:\/\/localhost:3000\/d\/breakerbox-tool-detail\?/),
          color: '#E69F00',
        }),
        expect.objectContaining({
          title: expect.stringMatching(/^Resolved, no longer: .*web_search/),
          color: '#0072B2',
        }),
      ]),
    );
    // In 90 s the script is played once, and begins again.
    const played = done.script.incidents.map(({ title, what }) => `${title} ${what}`);
    for (const { title } of INCIDENTS)
      expect(played).toEqual(expect.arrayContaining([`${title} begins`, `${title} ends`]));

    // T8: replayed, the traces of the run give the decisions of the run.
    for (const [agent, parity] of Object.entries(await parityOf(traces.path))) {
      expect(parity, agent).toMatchObject({ different: 0, differences: [] });
      expect(parity.compared, agent).toBeGreaterThan(200);
    }

    // Rejected calls go to another tool, the last good result, a person, or nowhere.
    const { routes, scope, stale, reports } = done;
    const sent = (tool: string) => routes.find((one) => one.tool === tool);
    expect(sent('web_search')).toMatchObject({ alternative: positive });
    expect(sent('get-sum')).toMatchObject({ alternative: positive });
    expect(sent('list_deployments')).toMatchObject({ stale: positive });
    expect(sent('create_ticket')).toMatchObject({ manual: positive });
    expect(sent('lookup_order')).toMatchObject({ defer: positive });
    const calls = (tool: string) => done.decisions.find((one) => one.tool === tool)?.call;
    expect([calls('news_search'), calls('calculator')]).toEqual([positive, positive]);
    expect(stale.map(({ label }) => label)).toContainEqual(expect.stringMatching(/^stale: retrieved \d{4}-.* UTC$/));

    expect(scope.deferred).toBeGreaterThan(0);
    expect(scope.plans.flatMap(({ deferred }) => deferred)).toContainEqual({
      task: expect.stringMatching(/^complaints/),
      tools: ['create_ticket'],
    });
    expect(scope.plans.flatMap(({ degraded }) => degraded)).toContainEqual(
      expect.objectContaining({ tool: 'web_search', alternative: 'news_search' }),
    );

    const paused = (state: string) => reports.find(({ report }) => report.state === state)?.report;
    const spent = paused('paused_budget');
    expect(spent).toMatchObject({
      agent: 'ops-agent',
      headline: 'PAUSED, failure budget: all 5 failures allowed are used up.',
    });
    // Calls that were under way at the time of the fifth failure may have failed too.
    expect(spent?.budget?.charges.length).toBeGreaterThanOrEqual(5);
    expect(spent?.plan?.deferred.length).toBeGreaterThan(0);
    expect(paused('paused_systemic')?.systemic).toMatchObject({ category: 'network', dependency: 'egress-proxy' });

    expect(last).toMatchObject({
      routes: { alternative: positive, stale: positive, manual: positive, defer: positive },
      inPlace: { low: positive },
      tasks: { achievable: positive, deferred: positive },
      labels: { stale: positive },
      reasons: { open: positive, group_open: positive, group_probe_due: positive },
    });
    // The scripted model does not repeat itself, so the loop guard never skips a call.
    expect(last?.reasons).not.toHaveProperty('repeat');

    // Prometheus, Alertmanager and the MCP server at least. None of them is left.
    expect(seen.size).toBeGreaterThanOrEqual(3);
    expect([...seen].filter(isAlive)).toEqual([]);
  });

  test.concurrent('killing Prometheus, Alertmanager and the OTLP receiver does not affect the agents', async (context) => {
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
        if (url === undefined) throw new Error('the demo printed no URL for its metrics');
        expect(demo.text()).toMatch(/alertmanager +http/);
        return url;
      },
      { timeout: 40_000, interval: 200 },
    );
    await vi.waitFor(() => expect(receiver.requests()).toBeGreaterThan(0), { timeout: 40_000 });

    const killed = childrenOf(demo.pid, /prometheus|alertmanager/);
    expect(killed).toHaveLength(2);
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    receiver.server.closeAllConnections();
    receiver.server.close();
    await vi.waitFor(() => expect(demo.text().match(/ is down /g)).toHaveLength(2), { timeout: 40_000 });

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
