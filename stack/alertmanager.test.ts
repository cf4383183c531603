/** The repository's alertmanager.yml in a real Alertmanager: the alerts that it mutes, and those that it sends. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAlertmanager } from './files.ts';
import { type Receiver, type RunningAlertmanager, startAlertmanager, startReceiver, until } from './running.ts';
import { ALERTMANAGER, requireProgram } from './tools.ts';

type Labels = Readonly<Record<string, string>>;
interface ApiAlert {
  readonly labels: Labels;
  readonly status: { readonly state: string };
}
interface Notification {
  readonly groupLabels: Labels;
  readonly alerts: readonly { readonly labels: Labels; readonly status: string }[];
}

let webhook: Receiver<Notification>;
let alertmanager: RunningAlertmanager;

const fire = (alerts: readonly Labels[]): Promise<void> => alertmanager.post(alerts.map((labels) => ({ labels })));

/** Sends as Prometheus does: for a resolved alert, the same labels again with an end. */
const end = (alerts: readonly Labels[]): Promise<void> =>
  alertmanager.post(alerts.map((labels) => ({ labels, endsAt: new Date().toISOString() })));

const fits = (labels: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);

/** The alert with these labels, after Alertmanager has decided whether to mute it. */
const decided = (wanted: Labels): Promise<ApiAlert> =>
  until(async () => {
    const alerts = (await (await fetch(`${alertmanager.url}/api/v2/alerts`)).json()) as ApiAlert[];
    return alerts.find(({ labels, status }) => status.state !== 'unprocessed' && fits(labels, wanted));
  });

const arrived = (wanted: Labels): readonly string[] =>
  webhook.bodies
    .flatMap(({ alerts }) => alerts.filter(({ labels }) => fits(labels, wanted)))
    .map(({ status }) => status);

const hasArrived = (wanted: Labels, status: string): Promise<true> =>
  until(() => (arrived(wanted).includes(status) ? true : undefined));

beforeAll(async () => {
  webhook = await startReceiver();
  const config = readAlertmanager();
  alertmanager = await startAlertmanager({
    ...config,
    route: { ...config.route, group_wait: '1s', group_interval: '1s' },
    receivers: [{ name: 'default', webhook_configs: [{ url: webhook.url, send_resolved: true }] }],
  });
});

afterAll(async () => {
  await alertmanager?.stop();
  await webhook?.close();
});

const tool = (alertname: string, agent: string, name: string, job = 'fleet'): Labels => ({
  alertname,
  severity: 'warning',
  job,
  gen_ai_agent_name: agent,
  gen_ai_tool_name: name,
});
const circuitOpen = (agent: string, name: string, job?: string): Labels =>
  tool('BreakerboxCircuitOpen', agent, name, job);
const agentAlert = (alertname: string, agent: string, more: Labels = {}): Labels => ({
  alertname,
  severity: 'critical',
  job: 'fleet',
  gen_ai_agent_name: agent,
  ...more,
});
const correlated = (agent: string): Labels =>
  agentAlert('BreakerboxCorrelatedOpenings', agent, { scope: 'agent', error_type: 'network' });
const everywhere = (name: string): Labels => ({
  alertname: 'BreakerboxCorrelatedOpenings',
  severity: 'critical',
  scope: 'fleet',
  error_type: 'network',
  gen_ai_tool_name: name,
});

/** A cause, the alerts that it mutes, and the alerts that are still sent. */
interface Muting {
  readonly sources: readonly Labels[];
  readonly muted: readonly Labels[];
  readonly heard: readonly Labels[];
}

const MUTINGS: readonly (readonly [string, Muting])[] = [
  [
    'a systemic failure mutes every warning of the tools of its agent and job',
    {
      sources: [agentAlert('BreakerboxSystemicFailure', 'struck')],
      muted: [
        circuitOpen('struck', 'web_search'),
        circuitOpen('struck', 'fetch'),
        tool('BreakerboxToolErrorRateHigh', 'struck', 'fetch'),
        correlated('struck'),
      ],
      heard: [
        circuitOpen('other', 'web_search'),
        circuitOpen('struck', 'web_search', 'another-job'),
        agentAlert('BreakerboxBudgetExhausted', 'struck'),
        // Has a tool label but is critical: no cause mutes it.
        { ...circuitOpen('struck', 'payments'), severity: 'critical' },
        // A warning without a tool.
        { ...agentAlert('BreakerboxTelemetryAbsent', 'struck'), severity: 'warning' },
      ],
    },
  ],
  [
    'correlated openings on one agent do the same, and mute no systemic failure',
    {
      sources: [correlated('linked')],
      muted: [circuitOpen('linked', 'fetch'), tool('BreakerboxCircuitFlapping', 'linked', 'fetch')],
      heard: [circuitOpen('linked', 'fetch', 'another-job'), circuitOpen('unlinked', 'fetch')],
    },
  ],
  [
    'a tool that fails on many agents mutes its warnings on each of them, but not those of other tools',
    {
      sources: [everywhere('shared_search')],
      muted: [circuitOpen('left', 'shared_search'), circuitOpen('right', 'shared_search', 'another-job')],
      heard: [circuitOpen('left', 'own_search'), correlated('middle')],
    },
  ],
  [
    'a fast burn mutes the slow burn',
    {
      sources: [agentAlert('BreakerboxBudgetBurnFast', 'spender')],
      muted: [{ ...agentAlert('BreakerboxBudgetBurnSlow', 'spender'), severity: 'warning' }],
      heard: [{ ...agentAlert('BreakerboxBudgetBurnSlow', 'saver'), severity: 'warning' }],
    },
  ],
  [
    'no model left mutes that a fallback answers, and tools that fail together mute no model',
    {
      sources: [
        agentAlert('BreakerboxSystemicFailure', 'speaker'),
        { ...tool('BreakerboxModelsDown', 'speaker', 'model:a/b'), severity: 'critical' },
      ],
      muted: [tool('BreakerboxModelOnFallback', 'speaker', 'model:a/b')],
      heard: [tool('BreakerboxModelOnFallback', 'speaker', 'model:c/d')],
    },
  ],
  [
    'sessions that have run out mute the burn of the same agent',
    {
      sources: [agentAlert('BreakerboxBudgetExhausted', 'broke')],
      muted: [agentAlert('BreakerboxBudgetBurnFast', 'broke')],
      heard: [agentAlert('BreakerboxBudgetBurnFast', 'rich')],
    },
  ],
  [
    'a tool that is out of use is not reported again because no probe was made',
    {
      sources: [circuitOpen('starved', 'fetch')],
      muted: [tool('BreakerboxProbeStarved', 'starved', 'fetch')],
      heard: [tool('BreakerboxProbeStarved', 'starved', 'search')],
    },
  ],
];

/** Each has agents of its own, so that all wait at the same time. */
describe.concurrent('a cause mutes what it explains', () => {
  it.each(MUTINGS)('%s', async (_, { sources, muted, heard }) => {
    // Sources first, as in production: the others fire minutes later.
    await fire(sources);
    for (const source of sources) await hasArrived(source, 'firing');
    await fire([...muted, ...heard]);

    for (const source of sources) expect((await decided(source)).status.state).toBe('active');
    for (const labels of muted) expect((await decided(labels)).status.state, JSON.stringify(labels)).toBe('suppressed');
    for (const labels of heard) expect((await decided(labels)).status.state, JSON.stringify(labels)).toBe('active');
    for (const labels of heard) await hasArrived(labels, 'firing');

    await end([...muted, ...heard]);
    for (const labels of heard) await hasArrived(labels, 'resolved');
    // The source may resolve in the same evaluation as the last muted alert.
    await end(sources);
    for (const source of sources) await hasArrived(source, 'resolved');
    // By now, muted alerts would have been sent, because their groups are as old as those of the sent ones.
    const control = circuitOpen(`control of ${sources[0]?.alertname} ${sources[0]?.scope}`, 'a');
    await fire([control]);
    await hasArrived(control, 'firing');
    for (const labels of muted) expect(arrived(labels), JSON.stringify(labels)).toEqual([]);
  });

  it('an alert that fires a moment before its cause waits in its group, and is muted too', async () => {
    const late = agentAlert('BreakerboxSystemicFailure', 'tardy');
    const early = circuitOpen('tardy', 'fetch');
    await fire([early]);
    await fire([late]);
    await hasArrived(late, 'firing');
    expect((await decided(early)).status.state).toBe('suppressed');
    await end([early]);
    await end([late]);
    await hasArrived(late, 'resolved');
    expect(arrived(early)).toEqual([]);
  });

  it('an alert that still fires when its cause ends is a separate fault, and is sent then', async () => {
    const cause = agentAlert('BreakerboxSystemicFailure', 'twice');
    const own = circuitOpen('twice', 'fetch');
    await fire([cause]);
    await hasArrived(cause, 'firing');
    await fire([own]);
    expect((await decided(own)).status.state).toBe('suppressed');
    await end([cause]);
    await hasArrived(own, 'firing');
  });

  it('sends one notification per alert, agent and job, with all its tools', async () => {
    const tools = ['a', 'b', 'c'].map((name) => circuitOpen('grouped', name));
    await fire([...tools, circuitOpen('grouped', 'a', 'another-job')]);
    const of = (job: string) =>
      webhook.bodies.filter(
        ({ groupLabels }) => groupLabels.gen_ai_agent_name === 'grouped' && groupLabels.job === job,
      );
    await until(() => (of('fleet').length > 0 && of('another-job').length > 0 ? true : undefined));
    expect(of('fleet')).toHaveLength(1);
    expect(of('fleet')[0]?.alerts.map(({ labels }) => labels)).toEqual(expect.arrayContaining(tools));
    for (const { groupLabels } of webhook.bodies) {
      for (const name of Object.keys(groupLabels)) expect(['alertname', 'gen_ai_agent_name', 'job']).toContain(name);
    }
  });
});

it('finds Alertmanager under its Debian or upstream name, and says how to get it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-path-'));
  const upstream = join(folder, 'alertmanager');
  writeFileSync(upstream, '#!/bin/sh\n');
  chmodSync(upstream, 0o755);
  expect(requireProgram(ALERTMANAGER, folder)).toBe(upstream);
  expect(() => requireProgram(ALERTMANAGER, join(folder, 'empty'))).toThrow(
    /^prometheus-alertmanager or alertmanager is not on PATH.*npm test/,
  );
  rmSync(folder, { recursive: true });
});
