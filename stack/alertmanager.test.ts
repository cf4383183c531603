/** The repository's alertmanager.yml in a real Alertmanager: what it mutes, and what it lets through. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { freePort } from '../packages/cli/src/demo/child.ts';
import { readAlertmanager } from './files.ts';
import { ALERTMANAGER, requireProgram } from './tools.ts';

interface ApiAlert {
  readonly fingerprint: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly status: { readonly state: string; readonly inhibitedBy: readonly string[] };
}
interface Notification {
  readonly groupLabels: Readonly<Record<string, string>>;
  readonly alerts: readonly { readonly labels: Readonly<Record<string, string>> }[];
}

const notifications: Notification[] = [];
let folder: string;
let webhook: Server;
let alertmanager: ChildProcess;
let url: string;
let log = '';

/** Polls until the answer is there; vitest's time-out is the limit. */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await wait(50);
  }
}

async function post(alerts: readonly Record<string, string>[]): Promise<void> {
  const body = JSON.stringify(alerts.map((labels) => ({ labels })));
  const response = await fetch(`${url}/api/v2/alerts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect(response.status, await response.text()).toBe(200);
}

/** The alert with these labels, once Alertmanager has decided what to do with it. */
function decided(wanted: Readonly<Record<string, string>>): Promise<ApiAlert> {
  return until(async () => {
    const alerts = (await (await fetch(`${url}/api/v2/alerts`)).json()) as ApiAlert[];
    return alerts.find(
      ({ labels, status }) =>
        status.state !== 'unprocessed' && Object.entries(wanted).every(([name, value]) => labels[name] === value),
    );
  });
}

beforeAll(async () => {
  webhook = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      notifications.push(JSON.parse(body));
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(webhook, 'listening');

  folder = mkdtempSync(join(tmpdir(), 'breakerbox-alertmanager-'));
  const config = readAlertmanager();
  const hook = { url: `http://127.0.0.1:${(webhook.address() as AddressInfo).port}`, send_resolved: true };
  writeFileSync(
    join(folder, 'alertmanager.yml'),
    stringify({
      ...config,
      route: { ...config.route, group_wait: '1s', group_interval: '1s' },
      receivers: [{ name: 'default', webhook_configs: [hook] }],
    }),
  );

  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  alertmanager = spawn(requireProgram(ALERTMANAGER), [
    `--config.file=${join(folder, 'alertmanager.yml')}`,
    `--storage.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
  ]);
  alertmanager.stderr?.on('data', (part) => {
    log += part;
  });
  const failed = once(alertmanager, 'error').then(([error]) => {
    throw new Error(`Alertmanager could not be started: ${error}`, { cause: error });
  });
  const ended = once(alertmanager, 'exit').then(([code]) => {
    throw new Error(`Alertmanager ended with ${code} before it was ready:\n${log}`);
  });
  const ready = until(async () => {
    const response = await fetch(`${url}/-/ready`).catch(() => undefined);
    return response?.ok === true ? true : undefined;
  });
  await Promise.race([ready, failed, ended]);
  // Both go on for the life of the process; its end in afterAll is no error.
  failed.catch(() => undefined);
  ended.catch(() => undefined);
});

afterAll(async () => {
  if (alertmanager?.exitCode === null && alertmanager.kill('SIGTERM')) await once(alertmanager, 'exit');
  webhook?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

const circuitOpen = (agent: string, tool: string, job = 'fleet'): Record<string, string> => ({
  alertname: 'BreakerboxCircuitOpen',
  severity: 'warning',
  job,
  gen_ai_agent_name: agent,
  gen_ai_tool_name: tool,
});
const agentAlert = (alertname: string, agent: string): Record<string, string> => ({
  alertname,
  severity: 'critical',
  job: 'fleet',
  gen_ai_agent_name: agent,
});

it('mutes the tools of an agent in a systemic failure, and nothing else', async () => {
  // Sources first, as in life: the tools' alerts wait for five minutes, the systemic one doesn't.
  const systemic = agentAlert('BreakerboxSystemicFailure', 'struck');
  const correlated = agentAlert('BreakerboxCorrelatedOpenings', 'correlated');
  await post([systemic, correlated]);
  const source = await decided(systemic);
  expect(source.status.state).toBe('active');

  const muted = [
    circuitOpen('struck', 'web_search'),
    circuitOpen('struck', 'fetch'),
    circuitOpen('correlated', 'fetch'),
  ];
  const heard = [
    circuitOpen('other', 'web_search'),
    circuitOpen('struck', 'web_search', 'another-job'),
    agentAlert('BreakerboxBudgetExhausted', 'struck'),
    // Names a tool, and is critical all the same: no cause mutes that.
    { ...circuitOpen('struck', 'payments'), severity: 'critical' },
  ];
  await post([...muted, ...heard]);

  for (const labels of muted) expect((await decided(labels)).status.state, JSON.stringify(labels)).toBe('suppressed');
  expect((await decided(circuitOpen('struck', 'fetch'))).status.inhibitedBy).toEqual([source.fingerprint]);
  for (const labels of heard) expect((await decided(labels)).status.state, JSON.stringify(labels)).toBe('active');

  // What arrives: one notification for each alert of an agent and job, and none for a muted tool.
  const sent = await until(async () => {
    const groups = notifications.map(({ groupLabels }) => JSON.stringify(groupLabels));
    return new Set(groups).size === 6 ? notifications : undefined;
  });
  const arrived = sent.flatMap(({ alerts }) => alerts.map(({ labels }) => labels));
  expect(arrived).toEqual(expect.arrayContaining([systemic, correlated, ...heard]));
  expect(arrived).not.toContainEqual(circuitOpen('struck', 'fetch'));
  for (const { groupLabels } of sent) {
    expect(Object.keys(groupLabels).sort()).toEqual(['alertname', 'gen_ai_agent_name', 'job']);
  }
});

it('finds Alertmanager by the name of Debian or of upstream, and says how to get it', () => {
  const upstream = join(folder, 'alertmanager');
  writeFileSync(upstream, '#!/bin/sh\n');
  chmodSync(upstream, 0o755);
  expect(requireProgram(ALERTMANAGER, folder)).toBe(upstream);
  expect(() => requireProgram(ALERTMANAGER, join(folder, 'empty'))).toThrow(
    /^prometheus-alertmanager or alertmanager is not on PATH.*npm test/,
  );
});
