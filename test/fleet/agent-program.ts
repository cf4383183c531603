import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { AgentFacts, FleetMessage, FleetOrders, RedisAddress } from './agent-process.ts';

/** One agent of a fleet, in a process of its own. agent-process.ts starts it and sends it messages. */
const orders = JSON.parse(process.argv[2] ?? '') as FleetOrders;

// Before anything else is loaded, so that all of it sees the wrong wall clock.
globalThis.Date = class extends Date {
  constructor(...given: readonly unknown[]) {
    super(
      ...((given.length === 0 ? [performance.timeOrigin + performance.now() + orders.wallClockMs] : given) as [number]),
    );
  }
  static override now(): number {
    return new this().getTime();
  }
} as DateConstructor;

const { createBreakerbox } = await import('@breakerbox/core');
const { createFleet } = await import('@breakerbox/fleet');

const tlsOf = ({ ca }: RedisAddress) => (ca === undefined ? undefined : { ca: readFileSync(ca) });

const clientOf = async (address: RedisAddress) => {
  const { library, ports, password } = address;
  const tls = tlsOf(address);
  const nodes = ports.map((port) => ({ host: '127.0.0.1', port }));
  const [first] = nodes;
  if (first === undefined) throw new Error('no port');
  if (library === 'ioredis') {
    const { Redis, Cluster } = await import('ioredis');
    const options = { ...(password !== undefined && { password }), ...(tls && { tls }) };
    return ports.length > 1 ? new Cluster(nodes, { redisOptions: options }) : new Redis({ ...first, ...options });
  }
  const { createClient, createCluster } = await import('redis');
  const secret = password === undefined ? {} : { password };
  if (ports.length > 1)
    return createCluster({
      rootNodes: nodes.map(({ host, port }) => ({ url: `redis://${host}:${port}` })),
      defaults: secret,
    });
  return createClient({
    ...secret,
    socket: tls ? { ...first, tls: true, ...tls } : first,
  });
};

const SHARED = 'web_search';
const HEALTHY = 'calendar';
const CALL_LIMIT_MS = 60_000;

const { failureThreshold, cooldownMs, maxCooldownMs, probeLeaseMs } = orders;
const policy = { failureThreshold, cooldownMs, maxCooldownMs, probeLeaseMs };
const fleet =
  orders.redis === undefined
    ? undefined
    : createFleet({ client: (await clientOf(orders.redis)) as never, name: 'agents' });
const own = fleet === undefined ? policy : { ...policy, share: 'fleet' as const };
const box = createBreakerbox({
  agent: 'fleet-agent',
  scope: 'process',
  budget: { failures: 100_000 },
  ...(fleet && { fleet }),
  tools: { [SHARED]: own, [HEALTHY]: own },
});
const session = box.session();

const decisions: Record<string, number> = {};
let healthyRejected = 0;
let times: number[] = [];
let latestTimerMs = 0;
let working = false;

const call = async (tool: string): Promise<void> => {
  const begun = performance.now();
  const permit = session.acquire(tool);
  times.push(performance.now() - begun);
  const { decision } = permit;
  decisions[decision] = (decisions[decision] ?? 0) + 1;
  if (decision !== 'call' && decision !== 'probe') {
    if (tool === HEALTHY) healthyRejected += 1;
    return;
  }
  const query = new URLSearchParams({ process: orders.name, decision });
  try {
    const response = await fetch(`${orders.toolUrl}/${tool}?${query}`, { signal: AbortSignal.timeout(CALL_LIMIT_MS) });
    await response.text();
    if (!response.ok) throw Object.assign(new Error('the tool answered with an error'), { status: response.status });
    permit.settle({ outcome: 'success' });
  } catch (error) {
    permit.settle({ error });
  }
};

const work = async (tool: string): Promise<void> => {
  while (working) {
    await call(tool);
    const begun = performance.now();
    await wait(orders.everyMs);
    latestTimerMs = Math.max(latestTimerMs, performance.now() - begun - orders.everyMs);
  }
};

const facts = (): AgentFacts => {
  const sorted = times.toSorted((one, other) => one - other);
  const status = fleet?.status();
  return {
    decisions,
    healthyRejected,
    longestAcquireMs: sorted.at(-1) ?? 0,
    p99AcquireMs: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    latestTimerMs,
    state: session.view().circuits.find(({ tool }) => tool === SHARED)?.state ?? 'closed',
    mode: status?.mode ?? 'off',
    status,
  };
};

const leave = async (): Promise<void> => {
  working = false;
  const begun = performance.now();
  await fleet?.close();
  process.send?.(performance.now() - begun, () => process.exit());
};

process.on('message', (message: FleetMessage) => {
  if (message.do === 'begin') {
    working = true;
    for (const tool of [SHARED, HEALTHY]) void work(tool);
  } else if (message.do === 'halt') working = false;
  else if (message.do === 'facts') process.send?.(facts());
  else if (message.do === 'forget') {
    times = [];
    latestTimerMs = 0;
  } else void leave();
});
// The test has ended.
process.on('disconnect', () => process.exit());
process.send?.('ready');
