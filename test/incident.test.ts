/**
 * An incident with a trouble for each alert that can fire within minutes, in a real Prometheus and a real Alertmanager with the repository's
 * rules, inhibition and templates. The events of the engine say who must be paged, and what the pages say is read word by word.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { createBreakerbox, type ErrorCategory, METRIC } from '@breakerbox/core';
import { createFleet, memoryStore } from '@breakerbox/fleet';
import { startTelemetry, type TelemetryHandle } from '@breakerbox/telemetry';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AlertWatch, startAlertWatch } from '../packages/demo/src/alert-watch.ts';
import { freePort } from '../packages/demo/src/child.ts';
import { createJournal } from '../packages/demo/src/journal.ts';
import { type AgentProcess, startAgentProcess } from './agent-process.ts';
import { type Counts, type EventCounts, followEvents, seriesName } from './event-counts.ts';
import { type Answers, type IncidentAgent, startIncidentAgent, TROUBLES } from './incident-agents.ts';
import { type Limited, startLimited } from './limited.ts';
import { type PrometheusClient, prometheusClient } from './prometheus.ts';
import { type Servers, scaleRule, startServers } from './servers.ts';
import { type Speaker, startSpeaker } from './speaker.ts';
import { BUDGET, type Spender, startSpender } from './spender.ts';

/** A minute of the rules, in milliseconds. */
const MINUTE_MS = 1500;
const INTERVAL_MS = 500;
const SCALE = { factor: MINUTE_MS / 60_000, leastRangeMs: 4 * INTERVAL_MS };
const JOB = 'incident';

/** What the engine told. */
interface Opening {
  readonly tool: string;
  readonly category: ErrorCategory | undefined;
  readonly atMs: number;
  closed: boolean;
  probed: boolean;
  /** Calls were skipped because of this circuit. */
  skipped: boolean;
}
interface Told {
  readonly openings: Opening[];
  exhausted: number;
  limits: number;
  events: { category: ErrorCategory | undefined; suspect: string; tools: readonly string[]; atMs: number }[];
}

const told = new Map<string, Told>();
const counted: EventCounts[] = [];
const agents = {} as Record<keyof typeof TROUBLES, IncidentAgent>;
let telemetry: TelemetryHandle;
let watch: AlertWatch;
let servers: Servers;
let prometheus: PrometheusClient;
let spender: Spender;
let limited: Limited;
let speakers: readonly Speaker[];
let vanished: AgentProcess;
let restarted: AgentProcess;
let watching: Promise<void>;
const ended = new AbortController();

const listen = (box: IncidentAgent['box']): void => {
  const openings: Opening[] = [];
  const one: Told = { openings, exhausted: 0, limits: 0, events: [] };
  told.set(box.agent, one);
  counted.push(followEvents(box));
  box.on('circuit.transition', ({ tool, from, to, category, unixMs }) => {
    if (from === 'closed' && to === 'open') {
      openings.push({ tool, category, atMs: unixMs, closed: false, probed: false, skipped: false });
    }
    if (to === 'closed') for (const opening of openings) if (opening.tool === tool) opening.closed = true;
  });
  box.on('decision', ({ tool, decision, reason }) => {
    for (const opening of openings.filter((each) => each.tool === tool)) {
      if (decision === 'probe') opening.probed = true;
      if (reason === 'open') opening.skipped = true;
    }
  });
  box.on('budget.exhausted', () => {
    one.exhausted += 1;
  });
  box.on('limit.reached', () => {
    one.limits += 1;
  });
  box.on('systemic.detected', ({ event: { category, layer, dependency, openings: parts }, unixMs }) =>
    one.events.push({
      category,
      suspect: dependency === undefined ? layer : `${layer} ${dependency}`,
      tools: parts.map(({ tool }) => tool),
      atMs: unixMs,
    }),
  );
};

/** A store that stops answering. */
let storeIsLost = false;
/** When the store and one agent went away, and most troubles began. */
let lostMs = 0;
/** When the pages were counted. */
let endedMs = 0;
/** When the troubles of the alerts that look back for longest began. */
let keysMs = 0;
const unsteady = (): ReturnType<typeof memoryStore> =>
  new Proxy(memoryStore(), {
    get: (store, key) => {
      const value: unknown = Reflect.get(store, key);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) =>
        storeIsLost && key === 'read' ? Promise.reject(new Error('no answer')) : Reflect.apply(value, store, args);
    },
  });
let fleet: ReturnType<typeof createFleet>;

beforeAll(async () => {
  const journal = createJournal();
  journal.begin();
  watch = await startAlertWatch(journal);
  telemetry = startTelemetry({ serviceName: JOB, prometheus: { port: 0 } });
  await telemetry.ready;
  const [port, portAgain, deadPort] = [await freePort(), await freePort(), await freePort()];
  servers = await startServers({
    webhookUrl: watch.webhookUrl,
    messageUrl: watch.messageUrl,
    scale: SCALE,
    intervalMs: INTERVAL_MS,
    jobs: [
      { job: JOB, targets: [new URL(telemetry.metricsUrl ?? '').host] },
      { job: 'gone', targets: [`127.0.0.1:${port}`] },
      { job: 'restarted', targets: [`127.0.0.1:${portAgain}`] },
    ],
  });
  prometheus = prometheusClient(servers.prometheus);
  const sources = { prometheus: () => servers.prometheus, alertmanager: () => servers.alertmanager };
  const look = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await watch.look(sources);
      await wait(INTERVAL_MS / 2);
    }
  };
  watching = look();
  const tools = { db_query: `http://127.0.0.1:${deadPort}` };
  const startAgain = () => startAgentProcess({ agent: 'restarted-agent', job: 'restarted', port: portAgain, tools });
  [vanished, restarted] = await Promise.all([
    startAgentProcess({ agent: 'vanish-agent', job: 'gone', port, nature: 'moody' }),
    startAgain(),
  ]);
  vanished.send({ do: 'heal' });
  fleet = createFleet({ client: unsteady() });
  createBreakerbox({ agent: 'fleet-agent', scope: 'process', fleet });
  for (const agent of Object.keys(TROUBLES) as (keyof typeof TROUBLES)[]) {
    agents[agent] = startIncidentAgent(agent);
    listen(agents[agent].box);
  }
  spender = startSpender('burner-agent');
  listen(spender.box);
  limited = startLimited('limited-agent');
  listen(limited.box);
  speakers = ['covered-agent', 'silent-agent'].map(startSpeaker);
  // Their alerts look back for longest.
  agents['ocr-agent'].begin();
  agents['key-agent'].begin();
  keysMs = Date.now();
  // The least time of a telemetry that can be missed is the longest.
  await wait(19 * MINUTE_MS);
  for (const one of Object.values(agents)) one.begin();
  for (const [index, speaker] of speakers.entries()) speaker.refuse(index + 1);
  spender.spend(BUDGET - 1);
  limited.spend();
  storeIsLost = true;
  lostMs = Date.now();
  await vanished.kill();
  // It was paged minutes ago.
  await restarted.kill();
  restarted = await startAgain();
  // Long enough for every alert that fires within minutes.
  await wait(18 * MINUTE_MS);
  endedMs = Date.now();
}, 180_000);
afterAll(async () => {
  ended.abort();
  await watching;
  await Promise.all([
    vanished?.kill(),
    restarted?.kill(),
    spender?.stop(),
    limited?.stop(),
    ...(speakers ?? []).map((one) => one.stop()),
    ...Object.values(agents).map((one) => one.stop()),
  ]);
  await fleet?.close();
  await servers?.stop();
  await telemetry?.shutdown();
  await watch?.close();
});

/** A page without what differs from run to run. Times stay, except that of the notification. */
const paged = (agentOrTool: string): readonly string[] =>
  watch.messages
    .filter(({ title }) => title.includes(`${agentOrTool}:`) || title.includes(`: ${agentOrTool} `))
    .map(({ title, text }) =>
      [title, text]
        .join('\n')
        .replaceAll(/ \(at \w+ \d+ [\d:]+ UTC\)/g, ' (at NOW)')
        .replaceAll(/ failed since \w+ \d+ [\d:]+ UTC/g, ' failed since NOW')
        .replaceAll(/Firing since [^:]+:\d\d UTC/g, 'Firing since NOW')
        .replaceAll(/\n {2}_Breakerbox\w+_/g, '')
        .replaceAll(/until \w+ \d+ [\d:]+ UTC/g, 'until LATER')
        .replaceAll(/\b\d+%/g, 'N%')
        .replaceAll(/reported for \d+ of/g, 'reported for N of')
        .replaceAll(/have opened \d+ times/g, 'have opened N times')
        .replaceAll(/<[^|]+\|Runbook>/g, 'Runbook')
        .replaceAll(/ · <http.*$/gm, ''),
    );

/**
 * Prometheus sees a change at its next scrape, texts read what was recorded before, and they look back once in a minute of the rules. A share
 * of calls that fail is one over five minutes.
 */
const MOST_OFF_MS = 6 * MINUTE_MS;

/** The time of the engine, or a few minutes of the rules before or after. */
const pagedSince = (agent: string, atMs: number): readonly string[] =>
  paged(agent).map((page) =>
    page.replaceAll(/Since (\w+ \d+ [\d:]+) UTC/g, (since, at: string) => {
      const offMs = Date.parse(`${at} ${new Date(atMs).getUTCFullYear()} UTC`) - atMs;
      return Math.abs(offMs) <= MOST_OFF_MS ? 'Since THEN' : `${since}, off by ${offMs} ms`;
    }),
  );

/** A text looks for the time once in a minute of the rules, which a run this short may not have. */
const pagedWhen = (agent: string, atMs: number): readonly string[] =>
  pagedSince(agent, atMs).map((page) => page.replace('Firing since NOW', 'Since THEN'));
const whenLost = (agent: string): readonly string[] => pagedWhen(agent, lostMs);

const openingOf = (agent: string): number => told.get(agent)?.openings[0]?.atMs ?? 0;

type Labels = Readonly<Record<string, string>>;
const who = (labels: Labels): string =>
  [labels.alertname, labels.gen_ai_agent_name, labels.gen_ai_tool_name, labels.error_type]
    .filter((one) => one !== undefined)
    .join(' ');
const distinct = (all: readonly { readonly labels: Labels }[]) =>
  [...new Set(all.map(({ labels }) => who(labels)))].sort();

/**
 * A tool that flaps may be open at the end, but not for as long as the alert requires. A service asked for the wait of the only tool with a
 * rate limit.
 */
const isOutage = ({ closed, category, atMs }: Opening): boolean =>
  !closed && category !== 'rate_limit' && endedMs - atMs > 8 * MINUTE_MS;

/** The least part of a tool's circuits that is an outage. */
const SHARE = 0.05;
const sessionsWith = (agent: string, tool: string): number =>
  agent in TROUBLES
    ? TROUBLES[agent as keyof typeof TROUBLES].sessions.filter((tools: Answers) => tool in tools).length
    : 1;

/** A tool opened this often, flaps. */
const OFTEN = 4;
const SEVERAL = 3;

/** Who must be paged, according to the engine's own events; and which alerts another one explains. */
const due = (): { readonly pages: readonly string[]; readonly muted: readonly string[] } => {
  const pages: string[] = [];
  const muted: string[] = [];
  const agentsOf = new Map<string, string[]>();
  for (const [agent, { openings, exhausted, limits, events }] of told) {
    const lasting = openings.filter(isOutage);
    for (const { tool, category } of lasting)
      agentsOf.set(`${tool} ${category}`, [...(agentsOf.get(`${tool} ${category}`) ?? []), agent]);
    const [first] = lasting;
    const together = lasting.length >= SEVERAL && lasting.every(({ category }) => category === first?.category);
    if (together) pages.push(`BreakerboxCorrelatedOpenings ${agent} ${first?.category}`);
    if (exhausted > 0) pages.push(`BreakerboxBudgetExhausted ${agent}`);
    if (limits > 0) pages.push(`BreakerboxLimitReached ${agent}`);
    if (events.length > 0) pages.push(`BreakerboxSystemicFailure ${agent}`);
    const flapping = openings.filter((one) => !isOutage(one));
    if (flapping.length >= OFTEN) pages.push(`BreakerboxCircuitFlapping ${agent} ${flapping[0]?.tool}`);
  }
  for (const [what, some] of agentsOf) {
    if (some.length >= SEVERAL) pages.push(`BreakerboxCorrelatedOpenings ${what}`);
  }
  for (const [agent, { openings, events }] of told) {
    const lasting = openings.filter(isOutage);
    for (const { tool, category, probed, skipped } of lasting) {
      const isShared =
        events.some(({ tools }) => tools.includes(tool)) ||
        pages.some((one) =>
          [
            `BreakerboxCorrelatedOpenings ${agent} ${category}`,
            `BreakerboxCorrelatedOpenings ${tool} ${category}`,
          ].includes(one),
        );
      const isFew = lasting.filter((one) => one.tool === tool).length < SHARE * sessionsWith(agent, tool);
      if (!isFew) (isShared ? muted : pages).push(`BreakerboxCircuitOpen ${agent} ${tool}`);
      if (skipped && !probed) (isFew ? pages : muted).push(`BreakerboxProbeStarved ${agent} ${tool}`);
    }
  }
  // These are in no event of these boxes: a share of calls or of sessions, models, the circuits of keys, and what a process cannot tell itself.
  pages.push(
    'BreakerboxBudgetBurnFast burner-agent',
    'BreakerboxCircuitOpen key-agent read_page',
    'BreakerboxCircuitOpen restarted-agent db_query',
    'BreakerboxFleetDegraded fleet-agent',
    'BreakerboxModelOnFallback covered-agent model:anthropic/claude',
    'BreakerboxModelsDown silent-agent model:anthropic/claude',
    'BreakerboxTelemetryAbsent vanish-agent',
    'BreakerboxToolErrorRateHigh ocr-agent ocr',
  );
  return { pages: pages.sort(), muted: muted.sort() };
};

/** The queries of a runbook's first look, with the values of the alert; without those about labels that it does not have. */
const firstLook = (labels: Labels): readonly string[] => {
  const text = readFileSync(new URL(`../alerts/runbooks/${labels.alertname}.md`, import.meta.url), 'utf8');
  const section = /^## First look$([\s\S]*?)^## /m.exec(text)?.[1] ?? '';
  const values = {
    JOB: labels.job,
    AGENT: labels.gen_ai_agent_name,
    TOOL: labels.gen_ai_tool_name,
    CATEGORY: labels.error_type,
  };
  return [...section.matchAll(/^ *```promql\n([\s\S]*?)```/gm)]
    .map(([, query = '']) =>
      Object.entries(values).reduce(
        (asked, [name, value]) => (value === undefined ? asked : asked.replaceAll(`"${name}"`, `"${value}"`)),
        query,
      ),
    )
    .filter((query) => !/"(?:JOB|AGENT|TOOL|CATEGORY)"/.test(query));
};

/** Queries that may have no result: they ask whether a group, another agent or a circuit has a part in it. */
const MAY_BE_EMPTY = [/group_open/, /breakerbox_outcome="success"/, /breakerbox_circuits\{/];
/** Keys have no circuit of their own in metrics, and groups no calls. */
const isOfKeysOrGroup = ({ gen_ai_agent_name, gen_ai_tool_name }: Labels): boolean =>
  gen_ai_agent_name === 'key-agent' || gen_ai_tool_name === 'group:mcp';

describe('the pages of an incident', () => {
  test('M6, M7: each trouble that the engine told has one page; a healthy agent, a forced mode, a wait that a service asked for and what another page explains have none', () => {
    const { pages, muted } = due();
    expect(distinct(watch.delivered)).toEqual(pages);
    expect(distinct(watch.inhibited)).toEqual(muted);
    // Its session has ended, so its alert is only kept.
    const stays = ({ labels }: { readonly labels: Labels }) => labels.gen_ai_agent_name !== 'leaving-agent';
    expect(watch.delivered.filter((one) => one.status === 'resolved' && stays(one))).toEqual([]);
    for (const agent of ['quiet-agent', 'forced-agent', 'waiting-agent']) expect(paged(agent)).toEqual([]);
  });

  test('the counters agree with the events', async () => {
    const all = Object.assign({}, ...counted.map((one) => one.counts())) as Counts;
    const { systemicEvents, budgetExhaustions } = METRIC;
    for (const { prometheus: name } of [systemicEvents, budgetExhaustions]) {
      const series = await prometheus.instant(`${name}{job="${JOB}"} > 0`);
      const seen = Object.fromEntries(
        series.map(({ metric: { __name__, job, instance, otel_scope_name, ...labels }, values }) => [
          seriesName(name, labels),
          values[0]?.[1],
        ]),
      );
      expect(seen).toEqual(Object.fromEntries(Object.entries(all).filter(([key]) => key.startsWith(`${name}{`))));
    }
  });

  test('B5: each query of a runbook shows the incident that its alert is about', async () => {
    const firing = new Map(watch.delivered.map(({ labels }) => [who(labels), labels]));
    const empty: string[] = [];
    for (const [alert, labels] of firing) {
      if (isOfKeysOrGroup(labels)) continue;
      for (const query of firstLook(labels).filter((one) => !MAY_BE_EMPTY.some((each) => each.test(one)))) {
        const found = await prometheus.instant(scaleRule(query, SCALE));
        if (found.length === 0) empty.push(`${alert}: ${query}`);
      }
    }
    expect(empty).toEqual([]);
  });

  test('several tools that fail as one event: the tools, the category, the suspected cause, and what to do', () => {
    expect(told.get('gateway-agent')?.events).toMatchObject([{ category: 'network', suspect: 'dependency egress' }]);
    expect(told.get('gateway-agent')?.openings).toEqual([]);
    const pages = pagedSince('gateway-agent', told.get('gateway-agent')?.events[0]?.atMs ?? 0);
    // Prometheus sorts tools with as many failures by chance.
    expect(pages.map((page) => page.replaceAll(/weather( \(network\))?, search/g, 'search$1, weather'))).toEqual([
      `Critical: gateway-agent: search, weather, translate fail together (network)
1 firing, job incident · Runbook
• Since THEN: Agent gateway-agent (job incident) has recognised failures of several tools as one event. Tools that failed: search (network), weather (network), translate (network). Suspected: dependency egress. 1 session is paused for every tool (at NOW). Look for what these tools share. A paused session makes no probe: once the cause is repaired, breakerbox ctl list, and breakerbox ctl confirm SESSION.`,
    ]);
  });

  test('M1, M10: a tool that is out of use: since when it is, not since when the alert fires', () => {
    expect(pagedSince('research-agent', openingOf('research-agent'))).toEqual([
      `Warning: research-agent: web_search is out of use (server)
1 firing, job incident · Runbook
• Since THEN: web_search of agent research-agent (job incident) has been out of use for more than 8 seconds. Affected within the last 3 seconds: 1 circuit. Its calls are skipped. Check the service behind it. A probe closes the circuit once it works. To see which sessions it affects and when the next probe is due: breakerbox ctl list.`,
    ]);
  });

  test('several tools that fail as one event in scope process: no session is paused', () => {
    expect(told.get('shared-agent')?.events).toMatchObject([{ category: 'server', suspect: 'dependency database' }]);
    const pages = pagedSince('shared-agent', told.get('shared-agent')?.events[0]?.atMs ?? 0);
    expect(pages.map((page) => page.replaceAll(/sql( \(server\))?, blob/g, 'blob$1, sql'))).toEqual([
      `Critical: shared-agent: blob, sql fail together (server)
1 firing, job incident · Runbook
• Since THEN: Agent shared-agent (job incident) has recognised failures of several tools as one event. Tools that failed: blob (server), sql (server). Suspected: dependency database. 1 event is active, no session is paused, and calls of the affected tools are skipped until a probe succeeds (at NOW). Look for what these tools share. A paused session makes no probe: once the cause is repaired, breakerbox ctl list, and breakerbox ctl confirm SESSION.`,
    ]);
  });

  test('a group whose MCP server is gone', () => {
    expect(pagedSince('mcp-agent', openingOf('mcp-agent'))).toEqual([
      `Warning: mcp-agent: group:mcp is out of use (network)
1 firing, job incident · Runbook
• Since THEN: group:mcp of agent mcp-agent (job incident) has been out of use for more than 8 seconds. Affected within the last 3 seconds: 1 circuit. Calls of all tools of the group are skipped. Check the service behind it. A probe closes the circuit once it works. To see which sessions it affects and when the next probe is due: breakerbox ctl list.`,
    ]);
  });

  test('a process that restarts during an outage: one page', () => {
    expect(pagedSince('restarted-agent', keysMs)).toEqual([
      `Warning: restarted-agent: db_query is out of use (network)
1 firing, job restarted · Runbook
• Since THEN: db_query of agent restarted-agent (job restarted) has been out of use for more than 8 seconds. Affected within the last 3 seconds: 1 circuit. Its calls are skipped. Check the service behind it. A probe closes the circuit once it works. To see which sessions it affects and when the next probe is due: breakerbox ctl list.`,
    ]);
  });

  test('one circuit of many that is never probed', () => {
    expect(pagedSince('starved-agent', openingOf('starved-agent'))).toEqual([
      `Warning: starved-agent: render is open and not probed (server)
1 firing, job incident · Runbook
• Since THEN: Tool render of agent starved-agent (job incident): 1 circuit has been open for 15 seconds. The agent asks for the tool, but its calls are skipped and none runs as a probe. The service did not ask for this wait. Without a probe, Breakerbox cannot see that the tool works again. To see which sessions it affects and when the next probe is due: breakerbox ctl list.`,
    ]);
  });

  test('L7: an outage of keys, with their category', () => {
    expect(pagedWhen('key-agent', keysMs)).toEqual([
      `Warning: key-agent: read_page is out of use (network)
1 firing, job incident · Runbook
• Since THEN: read_page of agent key-agent (job incident) has been out of use for more than 8 seconds. Affected within the last 3 seconds: circuits of its keys, such as hosts. Its calls are skipped. Check the service behind it. A probe closes the circuit once it works. To see which sessions it affects and when the next probe is due: breakerbox ctl list.`,
    ]);
  });

  test('M8, M9: a budget that is used up: whether a session is paused now, and the tools and errors that used it', () => {
    expect(pagedSince('strict-agent', lostMs)).toEqual([
      `Critical: strict-agent: sessions are out of failure budget: deploy (server), logs (timeout)
1 firing, job incident · Runbook
• Since THEN: Agent strict-agent (job incident): 1 session is paused, because its failure budget is used up (at NOW). A paused session calls no tool until you resume it. Tools that failed since NOW: deploy (server), logs (timeout). Repair the tools that fail, then: breakerbox ctl list, and breakerbox ctl resume SESSION.`,
    ]);
    expect(pagedSince('leaving-agent', lostMs).slice(0, 1)).toEqual([
      `Critical: leaving-agent: sessions are out of failure budget: deploy (server), logs (timeout)
1 firing, job incident · Runbook
• Since THEN: Agent leaving-agent (job incident): Sessions ran out within the last 27 seconds, and were resumed or ended since. None is paused now (at NOW). A paused session calls no tool until you resume it. Tools that failed since NOW: deploy (server), logs (timeout). Repair the tools that fail, then: breakerbox ctl list, and breakerbox ctl resume SESSION.`,
    ]);
    // The first tool of a session fails most, and the order of the others depends on the moment.
    const burning = pagedSince('burner-agent', lostMs).map((page) =>
      page.replaceAll(/translate|index|publish/g, 'OTHER'),
    );
    expect(burning).toEqual([
      `Critical: burner-agent: sessions use up their failure budgets: draft (server), OTHER (server), OTHER (server) and 1 more
1 firing, job incident · Runbook
• Since THEN: N% of the sessions that agent burner-agent (job incident) had in the last 90 seconds ran low: at most one failure is left in their budget. Over 8 seconds, this share was also more than 50 %, now or at most 23 seconds ago. The next failure that is charged pauses such a session. Tools that failed since NOW: draft (server), OTHER (server), OTHER (server), OTHER (server). Repair the tools that fail. To stop the calls of a tool until it works: breakerbox ctl force-open AGENT TOOL --reason WHY --for 8h.`,
    ]);
  });

  test('a limit that pauses a run: which one, since when, and how to let it go on', () => {
    expect(pagedSince('limited-agent', lostMs)).toEqual([
      `Warning: limited-agent: runs have reached a limit (calls)
1 firing, job incident · Runbook
• Since THEN: Agent limited-agent (job incident): 1 session is paused by a limit (at NOW). A paused session calls no tool until its limit is extended. Its calls have not failed: look at what the run has done, and whether it goes in circles. To see sessions and limits: breakerbox ctl list. To let a run go on: breakerbox ctl extend SESSION LIMIT AMOUNT.`,
    ]);
  });

  test('a tool of several agents, and several tools of one agent', () => {
    const first = Math.min(...[1, 2, 3].map((index) => openingOf(`crm-agent-${index}`)));
    expect(pagedSince('crm_api', first)).toEqual([
      `Critical: crm_api opened on several agents together (network)
1 firing · Runbook
• Since THEN: Tool crm_api (all jobs) opened on at least 3 agents within 3 seconds with errors of category network, or did so earlier and is still out of use there: crm-agent-1, crm-agent-2, crm-agent-3. Look at the service behind the tool. Alertmanager mutes the warnings of the single agents during this alert. To see which sessions it affects and when the next probe is due: breakerbox ctl list.`,
    ]);
    expect(pagedSince('split-agent', openingOf('split-agent'))).toEqual([
      `Critical: split-agent: blob, queue, sql opened together (timeout)
1 firing, job incident · Runbook
• Since THEN: At least 3 tools of agent split-agent (job incident) opened within 3 seconds of each other with errors of category timeout, or did so earlier and are still out of use: blob, queue, sql. Look for what these tools share. While this alert fires, Alertmanager mutes the warnings of the single tools. To see which sessions it affects and when the next probe is due: breakerbox ctl list.`,
    ]);
  });

  test('L6, L7: a tool that flaps, one that fails too often, an agent that is gone, and a store that is gone', () => {
    expect(pagedSince('flap-agent', openingOf('flap-agent'))).toEqual([
      `Warning: flap-agent: create_ticket opens again and again (server)
1 firing, job incident · Runbook
• Since THEN: Circuits of tool create_ticket of agent flap-agent (job incident) have opened N times each on average within 23 seconds. Either the tool fails and recovers again and again, or it is down and the circuit of each new session opens again. To see which sessions it affects and when the next probe is due: breakerbox ctl list.`,
    ]);
    expect(pagedSince('ocr-agent', keysMs)).toEqual([
      `Warning: ocr-agent: ocr fails too often (server)
1 firing, job incident · Runbook
• Since THEN: N% of the calls to tool ocr of agent ocr-agent (job incident) have failed over the last 8 seconds, and more than 25 % over the last 90 seconds. Too few fail in a row to keep a circuit open, so the agent continues, and each failure costs it time and budget. Check the service behind it. To stop the calls of a tool until it works: breakerbox ctl force-open AGENT TOOL --reason WHY --for 8h.`,
    ]);
    expect(whenLost('vanish-agent')).toEqual([
      `Warning: vanish-agent has stopped reporting
1 firing, job gone · Runbook
• Since THEN: Agent vanish-agent (job gone) has reported nothing for 8 seconds, after it reported for N of the last 90 seconds. It has ended, hangs, or cannot be reached. No other alert of this agent has data now. Look at its process, and at its target in Prometheus. On its machine, breakerbox ctl list shows whether it still answers. This alert resolves by itself within an hour, even if nothing was repaired.`,
    ]);
    expect(whenLost('fleet-agent')).toEqual([
      `Warning: fleet-agent: 1 process cannot reach the store of its shared circuits
1 firing, job incident · Runbook
• Since THEN: The store (Redis) has not answered 1 process of agent fleet-agent (job incident) for 8 seconds. No call waits for it. Such a process decides by its own circuits: it finds out by its own calls that a tool has failed, and sends its own probes. Actions of operators for the whole fleet do not reach it. Check the store and the way to it. For the reason, on the machine of the agent: breakerbox ctl list.`,
    ]);
  });
});
