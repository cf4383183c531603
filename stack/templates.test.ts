/** The texts of single templates of Alertmanager's messages, rendered by amtool. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAlertmanager, TEMPLATES } from './files.ts';
import { runTool } from './tools.ts';

type Pairs = Readonly<Record<string, string>>;

interface Alert {
  readonly status: 'firing' | 'resolved';
  readonly labels: Pairs;
  readonly annotations: Pairs;
  readonly startsAt: string;
  readonly endsAt?: string;
}

const SINCE = '2026-11-20T18:00:00Z';
const UNTIL = '2026-11-20T18:07:30Z';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'breakerbox-template-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The pairs that all have in common. */
const common = (all: readonly Pairs[]): Pairs =>
  Object.fromEntries(Object.entries(all[0] ?? {}).filter(([key, value]) => all.every((one) => one[key] === value)));

/** A text with templates, rendered for a group. */
const render = async (text: string, alerts: readonly Alert[]): Promise<string> => {
  const file = join(folder, 'data.json');
  const data = {
    status: alerts.some(({ status }) => status === 'firing') ? 'firing' : 'resolved',
    alerts,
    commonLabels: common(alerts.map(({ labels }) => labels)),
    commonAnnotations: common(alerts.map(({ annotations }) => annotations)),
    externalURL: 'http://alertmanager.example',
  };
  writeFileSync(file, JSON.stringify(data));
  const { code, output } = await runTool('amtool', [
    'template',
    'render',
    `--template.glob=${TEMPLATES}`,
    `--template.text=${text}`,
    `--template.data=${file}`,
  ]);
  expect(code, output).toBe(0);
  return output;
};

const TITLE = '{{ template "breakerbox.title" . }}';

const resolved = (labels: Pairs, endsAt = UNTIL): Alert => ({
  status: 'resolved',
  labels,
  annotations: { summary: 'It is bad' },
  startsAt: SINCE,
  endsAt,
});

describe('a resolved alert has its own words', () => {
  const of = 'of agent ops-agent';
  it.each([
    [
      'CircuitOpen',
      `tool fetch ${of} is no longer reported as out of use`,
      `tools ${of} are no longer reported as out of use`,
    ],
    [
      'CircuitFlapping',
      `tool fetch ${of} no longer opens again and again`,
      `tools ${of} no longer open again and again`,
    ],
    [
      'ProbeStarved',
      `tool fetch ${of} is no longer reported as waiting for a probe`,
      `tools ${of} are no longer reported as waiting for a probe`,
    ],
    ['ToolErrorRateHigh', `tool fetch ${of} no longer fails too often`, `tools ${of} no longer fail too often`],
    [
      'ToolSlow',
      `tool fetch ${of} is no longer reported as slower than usual`,
      `tools ${of} are no longer reported as slower than usual`,
    ],
  ])('Breakerbox%s, of one tool and of two', async (name, ofOne, ofTwo) => {
    const labels = { alertname: `Breakerbox${name}`, gen_ai_agent_name: 'ops-agent' };
    const tools = ['fetch', 'search'].map((tool) => resolved({ ...labels, gen_ai_tool_name: tool }));
    expect(await render(TITLE, tools.slice(0, 1))).toBe(`Resolved: ${ofOne}`);
    expect(await render(TITLE, tools)).toBe(`Resolved: ${ofTwo}`);
  });

  it.each([
    ['BudgetBurnFast', 'agent ops-agent no longer burns its failure budget too fast'],
    ['BudgetBurnSlow', 'agent ops-agent no longer burns its failure budget too fast'],
    ['BudgetExhausted', `no session ${of} is reported as paused for lack of failure budget`],
    ['SystemicFailure', `the tools ${of} are no longer reported as failing together`],
    ['CorrelatedOpenings', `the tools ${of} that opened together are no longer reported as out of use together`],
    ['FleetDegraded', `the processes ${of} reach the store of their shared circuits again, or no longer report`],
    ['LimitReached', 'no run of agent ops-agent is reported as paused by a limit'],
    ['SpendBurn', 'agent ops-agent no longer spends much more than usual'],
    ['ModelsDown', 'a model answers agent ops-agent again, or it no longer asks'],
    ['ModelOnFallback', 'the first models of agent ops-agent answer again, or it no longer asks'],
    ['TelemetryAbsent', 'agent ops-agent reports again, or is no longer expected to'],
  ])('Breakerbox%s', async (name, words) => {
    const labels = { alertname: `Breakerbox${name}`, gen_ai_agent_name: 'ops-agent' };
    expect(await render(TITLE, [resolved(labels)])).toBe(`Resolved: ${words}`);
  });

  it.each([
    [['fetch'], 'tool fetch is'],
    [['fetch', 'search'], 'tools are'],
  ])('of a whole fleet, which names no agent: %s', async (tools, who) => {
    const labels = { alertname: 'BreakerboxCorrelatedOpenings', scope: 'fleet' };
    const alerts = tools.map((tool) => resolved({ ...labels, gen_ai_tool_name: tool }));
    expect(await render(TITLE, alerts)).toBe(
      `Resolved: ${who} no longer reported as out of use on several agents together`,
    );
  });

  it('of another product by its summary', async () => {
    expect(await render(TITLE, [resolved({ alertname: 'Other' })])).toBe('Resolved: It is bad');
  });
});

describe('the message for Slack', () => {
  const nasty = '<!channel> & co';
  const [config] = readAlertmanager().receivers.flatMap((one) => one.slack_configs ?? []);
  const { title = '', text = '', fallback = '' } = config ?? {};
  const labels = { alertname: nasty, severity: nasty, job: nasty, gen_ai_agent_name: nasty };
  const annotations = {
    summary: `It is ${nasty}`,
    description: `So bad: ${nasty}`,
    runbook_url: 'https://runbooks.example/?a=<b>&c',
    dashboard_url: 'https://grafana.example/?a=<b>&c',
  };
  const firing: Alert = { status: 'firing', labels, annotations, startsAt: SINCE };
  const ended: Alert = { ...firing, status: 'resolved', endsAt: UNTIL };
  const withTool = (alert: Alert): Alert => ({ ...alert, labels: { ...alert.labels, gen_ai_tool_name: nasty } });
  const noted = (alert: Alert, notes: Pairs): Alert => ({ ...alert, annotations: notes });

  it.each<[situation: string, alerts: readonly Alert[]]>([
    ['fires', [firing]],
    ['fires without annotations', [noted(firing, {})]],
    ['fires with a summary each', [noted(firing, { summary: nasty }), noted(firing, { summary: '<@U1>' })]],
    ['is partly resolved', [firing, withTool(ended), ended]],
    ['is resolved', [withTool(ended)]],
    ['is resolved, and has another name', [{ ...ended, labels: { alertname: nasty } }]],
    [
      'is resolved, with a known name',
      [withTool({ ...ended, labels: { ...labels, alertname: 'BreakerboxCircuitOpen' } })],
    ],
    ['is resolved, for all tools', [{ ...ended, labels: { ...labels, alertname: 'BreakerboxSystemicFailure' } }]],
  ])('notifies no channel through a name: %s', async (_, alerts) => {
    for (const template of [title, text, fallback]) {
      const said = await render(template, alerts);
      const links = /<https?:[^<>|&]+(?:&(?:amp|lt|gt);[^<>|&]*)*\|[A-Za-z ]+>/g;
      expect(said.replace(links, ''), template).not.toMatch(/[<>]|&(?!(?:amp|lt|gt);)/);
      expect(said, template).not.toContain('&amp;amp;');
    }
    expect(await render(`${title} ${text}`, alerts)).toContain('&lt;!channel&gt; &amp; co');
  });

  it('is not escaped in the subject of a mail', async () => {
    expect(await render(TITLE, [noted(firing, annotations)])).toContain(': It is <!channel> & co');
    const over = withTool({ ...ended, labels: { ...labels, alertname: 'BreakerboxCircuitOpen' } });
    expect(await render(TITLE, [over])).toContain('tool <!channel> & co of agent <!channel> & co is no longer');
  });

  it('has the runbook in its first line, before the part that Slack hides', async () => {
    const runbook_url = 'https://runbooks.example/a.md';
    const said = await render(text, [noted(firing, { ...annotations, runbook_url })]);
    expect(said.split('\n')[0]).toMatch(/^1 firing, job .* · <https:\/\/runbooks\.example\/a\.md\|Runbook>$/);
  });

  it.each([text, '{{ template "breakerbox.plain" . }}'])('is cut if a description is very long: %s', async (one) => {
    const described = (description: string): Promise<string> => render(one, [noted(firing, { description })]);
    expect(await described(`${'ä'.repeat(899)}\n`)).toContain(`${'ä'.repeat(899)}\n`);
    const cut = await described(`${'ä'.repeat(899)}&\n<!here> ${'ö'.repeat(2000)}`);
    expect(cut).toMatch(/ä{899}&(?:amp;)?…/);
    expect(cut).not.toMatch(/here|ö/);
  });
});

it.each([
  ['2026-11-20T18:07:30Z', 'Nov 20 18:00 to 18:07 UTC'],
  ['2026-11-22T20:07:30Z', 'Nov 20 18:00 to Nov 22 20:07 UTC'],
  ['2027-11-20T18:07:30Z', 'Nov 20 18:00 to Nov 20 18:07 UTC'],
])('an alert that ended at %s shows the day of its end if that is another day', async (endsAt, span) => {
  const labels = { alertname: 'BreakerboxCircuitOpen', gen_ai_tool_name: 'fetch' };
  const alerts = [resolved(labels, endsAt)];
  expect(await render('{{ range .Alerts }}{{ template "breakerbox.span" . }}{{ end }}', alerts)).toBe(span);
});
