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

const resolved = (summary: string, labels: Pairs = {}, endsAt = UNTIL): Alert => ({
  status: 'resolved',
  labels: { alertname: 'BreakerboxCircuitOpen', ...labels },
  annotations: { summary },
  startsAt: SINCE,
  endsAt,
});

it('the link of a title leads to the first alert that fires, and to a resolved one if none does', async () => {
  const linked = (alert: Alert, tool: string): Alert => ({
    ...alert,
    annotations: { ...alert.annotations, dashboard_url: `https://grafana.example/${tool}` },
  });
  const over = linked(resolved('a: alpha is out of use', { gen_ai_tool_name: 'alpha' }), 'alpha');
  const fires: Alert = { ...linked(over, 'beta'), status: 'firing', labels: { gen_ai_tool_name: 'beta' } };
  const link = (...alerts: readonly Alert[]) => render('{{ template "breakerbox.link" . }}', alerts);
  expect(await link(over, fires)).toBe('https://grafana.example/beta');
  expect(await link(over)).toBe('https://grafana.example/alpha');
});

describe('the title of a group that is resolved', () => {
  const titles = (alerts: readonly Alert[]): Promise<string> =>
    render(`${TITLE}|{{ template "breakerbox.slack.title" . }}`, alerts);
  const both = (title: string): string => `${title}|${title}`;

  it('names agent, tool and error, as the title of the alert did', async () => {
    const one = resolved('ops-agent: fetch is out of use (network)');
    expect(await titles([one])).toEqual(both('Resolved, no longer: ops-agent: fetch is out of use (network)'));
  });

  it('names the first of several alerts and counts the others', async () => {
    const alerts = ['fetch', 'search', 'mail'].map((tool) =>
      resolved(`ops-agent: ${tool} is out of use`, { gen_ai_tool_name: tool }),
    );
    expect(await titles(alerts)).toEqual(both('Resolved, no longer: ops-agent: fetch is out of use, and 2 more'));
  });

  it('names one that fires, and counts no resolved one, while one fires', async () => {
    const fires: Alert = { ...resolved('ops-agent: search is out of use'), status: 'firing' };
    const alerts = [resolved('ops-agent: fetch is out of use'), fires];
    expect(await titles(alerts)).toEqual(both('Alert: ops-agent: search is out of use'));
  });

  it('names the alert if it has no summary', async () => {
    const one = { ...resolved(''), annotations: {} };
    expect(await titles([one])).toEqual(both('Resolved, no longer: BreakerboxCircuitOpen'));
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
    expect(await render(TITLE, [noted(ended, annotations)])).toContain('no longer: It is <!channel> & co');
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
  const alerts = [resolved('It is bad', {}, endsAt)];
  expect(await render('{{ range .Alerts }}{{ template "breakerbox.span" . }}{{ end }}', alerts)).toBe(span);
});
