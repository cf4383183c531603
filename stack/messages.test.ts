/** The templates in a real Alertmanager, for a Slack webhook and for mail, compared with golden texts that a person has read. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatMessage, parseMessage } from '../packages/demo/src/message.ts';
import { readAlertmanager, readText } from './files.ts';
import {
  type PostedAlert,
  type Receiver,
  type RunningAlertmanager,
  startAlertmanager,
  startReceiver,
  until,
} from './running.ts';

const SINCE = '2026-11-20T18:00:00Z';
const UNTIL = '2026-11-20T18:07:30Z';

const alert = (
  alertname: string,
  severity: string,
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
  endsAt?: string,
): PostedAlert => ({
  labels: { alertname, severity, ...labels },
  annotations: {
    runbook_url: `https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks/${alertname}.md`,
    ...annotations,
  },
  startsAt: SINCE,
  ...(endsAt !== undefined && { endsAt }),
});

const onAgent = (agent: string, tool?: string) => ({
  job: 'breakerbox',
  gen_ai_agent_name: agent,
  ...(tool !== undefined && { gen_ai_tool_name: tool }),
});

const open = (agent: string, tool: string, endsAt?: string): PostedAlert =>
  alert(
    'BreakerboxCircuitOpen',
    'warning',
    onAgent(agent, tool),
    {
      summary: `${agent}: ${tool} is out of use (server)`,
      description: `${tool} of agent ${agent} (job breakerbox) has been out of use for more than 5 minutes. Affected within the last 2 minutes: 1 circuit. Its calls are skipped. Check the service & co behind it.`,
      began: 'Nov 20 17:54 UTC',
      dashboard_url: `http://localhost:3000/d/breakerbox-tool-detail?var-job=breakerbox&var-agent=${agent}&var-tool=${tool}`,
    },
    endsAt,
  );

const systemic = (agent: string, endsAt?: string): PostedAlert =>
  alert(
    'BreakerboxSystemicFailure',
    'critical',
    onAgent(agent),
    {
      summary: `${agent}: get_weather, web_search fail together (network)`,
      description: `Agent ${agent} (job breakerbox) has recognised failures of several tools as one event. Tools that failed: get_weather (network), web_search (network). 1 session is paused for every tool (at Nov 20 18:00 UTC).`,
      dashboard_url: `http://localhost:3000/d/breakerbox-correlated-failures?var-job=breakerbox&var-agent=${agent}`,
      console_url: `http://localhost:9480/#agent=${agent}`,
    },
    endsAt,
  );

const everywhere = (tool: string): PostedAlert =>
  alert(
    'BreakerboxCorrelatedOpenings',
    'critical',
    { scope: 'fleet', error_type: 'network', gen_ai_tool_name: tool },
    {
      summary: `${tool} opened on several agents together (network)`,
      description: `Tool ${tool} has opened on 3 agents <all> by errors of category network.`,
      // Relative, because Prometheus has no grafana_url here.
      dashboard_url: `/d/breakerbox-correlated-failures?var-tool=${tool}`,
    },
  );

/** The alerts that are posted together, and the counts of the message to wait for. */
type Turn = readonly [alerts: readonly PostedAlert[], counts: string];

/** Each is one group of Alertmanager. `about` occurs only in its messages. */
const SITUATIONS: readonly { readonly name: string; readonly about: string; readonly turns: readonly Turn[] }[] = [
  { name: 'firing', about: 'research-agent', turns: [[[systemic('research-agent')], '1 firing']] },
  {
    name: 'several',
    about: 'several-agent',
    turns: [[[open('several-agent', 'lookup_order'), open('several-agent', 'create_ticket')], '2 firing']],
  },
  {
    name: 'mixed',
    about: 'mixed-agent',
    turns: [
      [[open('mixed-agent', 'query_logs'), open('mixed-agent', 'list_deployments')], '2 firing'],
      [[open('mixed-agent', 'query_logs', UNTIL)], '1 firing, 1 resolved'],
    ],
  },
  {
    name: 'resolved',
    about: 'resolved-agent',
    turns: [
      [[systemic('resolved-agent')], '1 firing'],
      [[systemic('resolved-agent', UNTIL)], '1 resolved'],
    ],
  },
  {
    name: 'many',
    about: 'many-agent',
    turns: [
      [Array.from({ length: 12 }, (_, n) => open('many-agent', `tool_${String(n).padStart(2, '0')}`)), '12 firing'],
    ],
  },
  { name: 'fleet', about: 'fetch_page', turns: [[[everywhere('web_search'), everywhere('fetch_page')], '2 firing']] },
];

interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The parts of a mail as Alertmanager writes it: quoted-printable, in multipart/alternative. */
const readMail = (source: string): Mail => {
  const decode = (text: string): string => {
    const bytes = text
      .replace(/=\r?\n/g, '')
      .replace(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
    return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n').trim();
  };
  const part = (type: string): string => {
    const [, body = ''] =
      new RegExp(`Content-Type: ${type}[^\\r\\n]*\\r?\\n\\r?\\n([\\s\\S]*?)\\r?\\n--`).exec(source) ?? [];
    return decode(body);
  };
  const [, subject = ''] = /^Subject: (.*)$/m.exec(source) ?? [];
  return { subject: subject.trim(), text: part('text/plain'), html: part('text/html') };
};

let slack: Receiver<unknown>;
let alertmanager: RunningAlertmanager;
let smtp: SMTPServer;
const mails: Mail[] = [];

/** The mail receiver from the comments of alertmanager.yml, filled in. */
const emailReceiver = (): Record<string, unknown> => {
  const lines = readText('stack/alertmanager/alertmanager.yml').split('\n');
  const from = lines.findIndex((line) => line.trim() === '# email_configs:');
  const block = lines.slice(from + 1).map((line) => /^ {4}# {3}(.*)$/.exec(line)?.[1]);
  const settings = block.slice(0, block.indexOf(undefined)).map((line) => line?.replace(/^- /, '  ') ?? '');
  const value = (key: string): string => {
    const line = settings.find((one) => one.trim().startsWith(`${key}:`)) ?? '';
    return line
      .slice(line.indexOf(':') + 1)
      .trim()
      .replace(/^'|'$/g, '');
  };
  return {
    to: value('to'),
    from: value('from'),
    send_resolved: value('send_resolved') === 'true',
    headers: { Subject: value('Subject') },
    html: value('html'),
    text: value('text'),
  };
};

beforeAll(async () => {
  slack = await startReceiver();
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, _session, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        mails.push(readMail(Buffer.concat(parts).toString('utf8')));
        done();
      });
    },
  });
  smtp.listen(0, '127.0.0.1');
  await once(smtp.server, 'listening');
  const config = readAlertmanager();
  const [receiver] = config.receivers;
  alertmanager = await startAlertmanager({
    ...config,
    route: { ...config.route, group_wait: '1s', group_interval: '1s' },
    receivers: [
      {
        name: 'default',
        slack_configs: (receiver?.slack_configs ?? []).map((one) => ({ ...one, api_url: slack.url })),
        email_configs: [
          {
            ...emailReceiver(),
            smarthost: `127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
            require_tls: false,
          },
        ],
      },
    ],
  });
});

afterAll(async () => {
  await alertmanager?.stop();
  await slack?.close();
  await new Promise<void>((resolve) => smtp?.close(resolve));
});

/** Whether a text begins with these counts, followed by the job, the runbook, or the end of the line. */
const counts = (text: string, wanted: string): boolean => text.split(/, job | · |\n/)[0] === wanted;

describe.each(SITUATIONS)('$name', ({ name, about, turns }) => {
  let slackBody: unknown;
  let mail: Mail;

  beforeAll(async () => {
    for (const [alerts, wanted] of turns) {
      await alertmanager.post(alerts);
      slackBody = await until(() =>
        slack.bodies.find((body) => {
          const { title, text } = parseMessage(JSON.stringify(body));
          return `${title} ${text}`.includes(about) && counts(text, wanted);
        }),
      );
      mail = await until(() =>
        mails.find(({ subject, text }) => `${subject} ${text}`.includes(about) && counts(text, wanted)),
      );
    }
  });

  it('A9: in Slack', async () => {
    await expect(`${JSON.stringify(slackBody, null, 2)}\n`).toMatchFileSnapshot(`golden/${name}.slack.txt`);
  });

  it('on a terminal, as printed by the pager of docker-compose.yml and the demo', async () => {
    const text = formatMessage(parseMessage(JSON.stringify(slackBody)), 100);
    await expect(`${text}\n`).toMatchFileSnapshot(`golden/${name}.terminal.txt`);
  });

  it('in a mail, as text and as HTML', async () => {
    await expect(`Subject: ${mail.subject}\n\n${mail.text}\n`).toMatchFileSnapshot(`golden/${name}.mail.txt`);
    await expect(`${mail.html}\n`).toMatchFileSnapshot(`golden/${name}.mail.html`);
  });
});

it('writes no line about a template that failed', () => {
  expect(alertmanager.log).not.toMatch(/template|level=(error|warn)/);
});
