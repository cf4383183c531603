/** Telemetry and the control API of `breakerbox mcp`, as processes, with real receivers and a real Prometheus. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { type Substitution, substitute } from '../dashboards/src/queries.ts';
import { scaleExpression } from '../packages/demo/src/scale-rules.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../packages/telemetry/src/test-support/otlp-receiver.ts';
import { panelQueries } from './panels.ts';
import { prometheusClient } from './prometheus.ts';
import { startServers } from './servers.ts';

const MAIN = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url));
const SERVER = fileURLToPath(new URL('mcp-relay-server.mjs', import.meta.url));
const SOURCE = '--conditions=breakerbox-source';
const PATIENT = { timeout: 30_000 };

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

interface Answer {
  readonly id?: number;
  readonly result?: { readonly content?: { readonly text: string }[]; readonly isError?: boolean };
}

/** The variables of this process, without those of a telemetry that it may have itself. */
const environment = (more: Readonly<Record<string, string>>) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(OTEL|BREAKERBOX)_/.test(name))),
  ...more,
});

/** A relay in front of the server, with a client that writes messages itself. */
const startRelay = (flags: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const child: ChildProcess = spawn(process.execPath, [SOURCE, MAIN, 'mcp', ...flags, '--', process.execPath, SERVER], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: environment(env),
  });
  undo.push(() => child.kill('SIGKILL'));
  const seen = { out: '', err: '' };
  child.stdout?.on('data', (text: Buffer) => {
    seen.out += text;
  });
  child.stderr?.on('data', (text: Buffer) => {
    seen.err += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  /** Lines that are no messages, beside the one that the server prints. */
  const foreignLines = () => seen.out.split('\n').filter((line) => !/^(\{.*\}|ready|)$/.test(line));
  const answers = () =>
    seen.out.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Answer] : []));
  let ids = 0;
  const send = async (method: string, params: object): Promise<Answer['result']> => {
    ids += 1;
    const id = ids;
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const find = () => answers().find((answer) => answer.id === id);
    await expect.poll(find, { ...PATIENT, interval: 5 }).toBeDefined();
    return find()?.result;
  };
  const call = async (name: string, meta?: object): Promise<string> =>
    (await send('tools/call', { name, arguments: { n: ids }, ...(meta && { _meta: meta }) }))?.content?.[0]?.text ?? '';
  const connect = async (): Promise<void> => {
    await send('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 't', version: '0' },
    });
    child.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    await send('tools/list', {});
  };
  const says = async (pattern: RegExp): Promise<string> => {
    await expect.poll(() => seen.err, PATIENT).toMatch(pattern);
    return pattern.exec(seen.err)?.[1] ?? '';
  };
  /** Closes the client's end. Gives the exit code, and how long the relay took. */
  const close = async (): Promise<{ code: number | null; ms: number }> => {
    const begun = performance.now();
    child.stdin?.end();
    return { code: await ended, ms: performance.now() - begun };
  };
  return { child, seen, send, call, connect, says, close, foreignLines };
};

const METRICS = /metrics are at (http:\S+)/;

const otlp = ({ url }: OtlpReceiver): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
});

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { key: string; value: { stringValue?: string } }[];
}

const spansOf = ({ requests }: OtlpReceiver): readonly Span[] =>
  requests
    .filter(({ path }) => path === '/v1/traces')
    .flatMap(({ body }) => JSON.parse(body).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans);

describe('telemetry', () => {
  test('M9: metrics, spans and log events go to OTLP, and spans have the parent that the request names', async () => {
    await using receiver = await startOtlpReceiver();
    const relay = startRelay(['--prometheus', '0', '--agent', 'desk'], otlp(receiver));
    await relay.says(METRICS);
    await relay.connect();
    const traceparent = (n: number) => `00-${'a'.repeat(31)}${n}-${'b'.repeat(15)}${n}-01`;
    for (let n = 1; n <= 4; n += 1) await relay.call('broken', { traceparent: traceparent(n) });
    await relay.call('echo');
    const { code, ms } = await relay.close();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(1_500);
    const spans = spansOf(receiver);
    expect(spans.map(({ name }) => name)).toEqual([
      ...Array<string>(3).fill('execute_tool broken'),
      'breakerbox.skip broken',
      'execute_tool echo',
    ]);
    for (const [index, { traceId, parentSpanId }] of spans.slice(0, 4).entries())
      expect(`00-${traceId}-${parentSpanId}-01`).toBe(traceparent(index + 1));
    expect(spans[4]?.parentSpanId || undefined).toBeUndefined();
    for (const { attributes } of spans)
      expect(attributes).toContainEqual({ key: 'mcp.method.name', value: { stringValue: 'tools/call' } });
    const of = (path: string) =>
      receiver.requests
        .filter((one) => one.path === path)
        .map(({ body }) => body)
        .join('');
    expect(of('/v1/metrics')).toContain('breakerbox.decisions');
    expect(of('/v1/logs')).toContain('breakerbox.');
    expect(of('/v1/metrics')).toContain('{"key":"gen_ai.agent.name","value":{"stringValue":"desk"}}');
  });

  test('M9: nothing of ours is on standard output, also with loggers and exporters that write to the console', async () => {
    await using receiver = await startOtlpReceiver();
    const env = {
      ...otlp(receiver),
      OTEL_LOG_LEVEL: 'all',
      OTEL_TRACES_EXPORTER: 'console',
      OTEL_METRICS_EXPORTER: 'console',
    };
    const relay = startRelay(['--prometheus', '0'], env);
    await relay.says(METRICS);
    await relay.connect();
    for (let n = 0; n < 4; n += 1) await relay.call('broken');
    expect((await relay.close()).code).toBe(0);
    expect(relay.foreignLines()).toEqual([]);
    expect(relay.seen.err).toContain('execute_tool broken');
  });

  test('M9: a port that is taken is reported once, and the relay works', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    undo.push(() => taken.close());
    const { port } = taken.address() as { port: number };
    const relay = startRelay(['--prometheus', `${port}`]);
    await relay.says(/EADDRINUSE/);
    await relay.connect();
    expect(await relay.call('pid')).toMatch(/^\d+$/);
    await after(300);
    expect(relay.seen.err.match(/EADDRINUSE/g)).toHaveLength(1);
    expect((await relay.close()).code).toBe(0);
  });

  test('M9: a backend that hangs delays no call, and the end by 1.5 s at most', async () => {
    await using receiver = await startOtlpReceiver({ hang: true });
    const relay = startRelay([], {
      ...otlp(receiver),
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_METRIC_EXPORT_INTERVAL: '100',
    });
    await relay.connect();
    await relay.call('echo');
    await receiver.received('/v1/metrics');
    const begun = performance.now();
    for (let n = 0; n < 100; n += 1) await relay.call('pid');
    expect(performance.now() - begun).toBeLessThan(3_000);
    const { code, ms } = await relay.close();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(2_000);
    expect(relay.foreignLines()).toEqual([]);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('M9: the last telemetry is sent on %s', async (signal) => {
    await using receiver = await startOtlpReceiver();
    const relay = startRelay(['--prometheus', '0'], otlp(receiver));
    await relay.says(METRICS);
    await relay.connect();
    await relay.call('echo');
    relay.child.kill(signal);
    const { ms } = await relay.close();
    expect(ms).toBeLessThan(2_000);
    expect(spansOf(receiver).map(({ name }) => name)).toEqual(['execute_tool echo']);
  });

  test('M9: without a flag and a variable no code of telemetry or control is loaded', () => {
    const script = `
      import { registerHooks } from 'node:module';
      registerHooks({ resolve: (name, context, next) => {
        const found = next(name, context);
        if (/packages\\/(telemetry|control)\\//.test(found.url)) console.error(found.url);
        return found;
      } });`;
    const { status, stderr } = spawnSync(
      process.execPath,
      [
        SOURCE,
        `--import=data:text/javascript,${encodeURIComponent(script)}`,
        MAIN,
        'mcp',
        '--',
        process.execPath,
        SERVER,
      ],
      { input: '', env: environment({}), encoding: 'utf8' },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('an address that cannot be used ends the command before the server starts', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [SOURCE, MAIN, 'mcp', '--prometheus', 'npx', '--', process.execPath, SERVER],
      { input: '', env: environment({}), encoding: 'utf8' },
    );
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^breakerbox mcp: --prometheus is 'npx', which is not an address\./);
  });
});

const INTERVAL_MS = 500;
/** A minute of the rules takes a second. */
const SCALE = { factor: 1 / 60, leastRangeMs: 4 * INTERVAL_MS };

describe('dashboards and alerts', () => {
  test('M9: the alert of an open circuit fires, and the panels of the tool have values', async () => {
    const from = Date.now() / 1000;
    const relay = startRelay(['--prometheus', '0', '--agent', 'desk']);
    const url = new URL(await relay.says(METRICS));
    const servers = await startServers({
      jobs: [{ job: 'relays', targets: [url.host] }],
      webhookUrl: 'http://127.0.0.1:9/',
      scale: SCALE,
      intervalMs: INTERVAL_MS,
    });
    undo.push(servers.stop);
    const prometheus = prometheusClient(servers.prometheus);
    await relay.connect();
    await expect
      .poll(() => prometheus.instant('breakerbox_circuits{gen_ai_tool_name="broken"}'), PATIENT)
      .not.toEqual([]);
    for (let n = 0; n < 8; n += 1) {
      await relay.call('broken');
      await relay.call('echo');
      await after(250);
    }
    const firing = 'ALERTS{alertname="BreakerboxCircuitOpen", alertstate="firing"}';
    await expect.poll(() => prometheus.instant(firing), { timeout: 60_000 }).not.toEqual([]);
    const [alert] = await prometheus.instant(firing);
    expect(alert?.metric).toMatchObject({ gen_ai_agent_name: 'desk', gen_ai_tool_name: 'broken', job: 'relays' });

    const substitution: Substitution = {
      rateInterval: `${(4 * INTERVAL_MS) / SCALE.factor}ms`,
      range: '5h',
      variables: { job: 'relays', agent: 'desk', tool: 'broken' },
    };
    const empty: string[] = [];
    const positive: string[] = [];
    for (const { panel, refId, expr } of panelQueries.filter(
      ({ dashboard }) => dashboard === 'breakerbox-tool-detail',
    )) {
      const query = scaleExpression(substitute(expr, substitution), SCALE);
      if ((await prometheus.instant(query)).length === 0) empty.push(`${panel} ${refId}`);
      // Over the whole run: when the alert fires, the last five minutes had no call.
      const rows = await prometheus.range(query, from);
      if (rows.some(({ values }) => values.some(([, value]) => value > 0))) positive.push(`${panel} ${refId}`);
    }
    // A relay knows no tokens, no operator has acted, and a query for exemplars has no values.
    expect(empty).toEqual([
      'Latency percentiles D',
      'Tokens by tool in range A',
      'Tokens by tool in range B',
      'Actions of operators annotation',
    ]);
    const MEASURED = [
      'State',
      'Open since',
      'Failed 5m',
      'Not run 5m',
      'p95 5m',
      'State over time',
      'Circuits by state',
    ];
    expect(positive).toEqual(expect.arrayContaining(MEASURED.map((panel) => `${panel} A`)));
    expect(await prometheus.labelValues('gen_ai_tool_name', 'breakerbox_circuits')).toContain('group:relay-test');
  });
});

describe('the control API', () => {
  const ctl = (folder: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [SOURCE, MAIN, 'ctl', ...args], {
      env: environment({ XDG_RUNTIME_DIR: folder }),
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };

  test('M5, A7: ctl finds a relay, forces a tool open, and releases it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'breakerbox-'));
    undo.push(() => rmSync(folder, { recursive: true, force: true }));
    const relay = startRelay(['--control', '--agent', 'desk'], { XDG_RUNTIME_DIR: folder });
    await relay.says(/breakerbox ctl finds this relay at (unix:\S+)/);
    const listed = JSON.parse(ctl(folder, 'list', '--json').stdout);
    expect(JSON.stringify(listed)).toContain('"agent":"desk"');
    await relay.connect();
    expect(await relay.call('pid')).toMatch(/^\d+$/);
    expect(ctl(folder, 'force-open', 'desk', 'pid', '--reason', 'the index is being rebuilt')).toMatchObject({
      status: 0,
    });
    expect(await relay.call('pid')).toMatch(/^Tool 'pid' is unavailable/);
    expect(ctl(folder, 'release', 'desk', 'pid')).toMatchObject({ status: 0 });
    expect(await relay.call('pid')).toMatch(/^\d+$/);
    expect((await relay.close()).code).toBe(0);
    expect(ctl(folder, 'list').status).not.toBe(0);
  });
});
