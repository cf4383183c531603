import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AlertLabels, Journal } from './journal.ts';
import { type Message, parseMessage } from './message.ts';

/** The current state of an alert. */
export interface AlertRow {
  readonly labels: AlertLabels;
  readonly state: 'pending' | 'firing' | 'inhibited';
  /** Whether Alertmanager has sent it to the demo's receiver. */
  readonly delivered: boolean;
}

/** An alert that arrived at the receiver. */
export interface Delivery {
  readonly atMs: number;
  readonly status: 'firing' | 'resolved';
  readonly labels: AlertLabels;
}

/** A message as a person would get it: in Slack's format, from the templates of `stack/alertmanager/`. */
export interface Received extends Message {
  readonly atMs: number;
}

/** An alert that Alertmanager suppressed, because another alert explains it. */
export interface Inhibition {
  readonly atMs: number;
  readonly labels: AlertLabels;
}

/** The URLs of the programs that have the alerts. Undefined for one that does not run. */
export interface AlertSources {
  prometheus(): string | undefined;
  alertmanager(): string | undefined;
}

/** Follows alerts from end to end: pending and firing in Prometheus, inhibited in Alertmanager, delivered here. */
export interface AlertWatch {
  /** The URL to which Alertmanager's receiver posts alerts, as data. */
  readonly webhookUrl: string;
  /** The URL to which it posts messages for people. */
  readonly messageUrl: string;
  /** The alerts at the latest look. */
  readonly rows: readonly AlertRow[];
  readonly delivered: readonly Delivery[];
  readonly inhibited: readonly Inhibition[];
  /** One for each notification, repeats included. */
  readonly messages: readonly Received[];
  /** Asks both programs now. Never rejects: a program that does not answer has no alerts to show. */
  look(sources: AlertSources): Promise<void>;
  close(): Promise<void>;
}

interface Held {
  readonly labels: AlertLabels;
  readonly startsAt: string;
  readonly status: { readonly state: string; readonly inhibitedBy: readonly string[] };
}
interface Notification {
  readonly alerts: readonly (Omit<Held, 'status'> & { readonly status: 'firing' | 'resolved' })[];
}

const ASK_LIMIT_MS = 900;
const KEPT = 2000;
const MESSAGES = '/messages';

/** Opens the receiver on loopback. */
export const startAlertWatch = async (journal: Journal): Promise<AlertWatch> => {
  const delivered: Delivery[] = [];
  const inhibited: Inhibition[] = [];
  const messages: Received[] = [];
  /** Alerts that are already recorded. Alertmanager repeats a whole group when one alert of it changes. */
  const known = new Set<string>();
  /** Alerts that arrived as firing, and not yet as resolved. */
  const open = new Set<string>();
  let rows: readonly AlertRow[] = [];

  const isNew = (...parts: readonly string[]): boolean => {
    const key = parts.join('\n');
    if (known.has(key)) return false;
    known.add(key);
    if (known.size > KEPT) known.delete(known.values().next().value ?? '');
    return true;
  };

  const receive = ({ alerts }: Notification): void => {
    for (const { labels, status, startsAt } of alerts) {
      if (status === 'firing') open.add(labelKey(labels));
      else open.delete(labelKey(labels));
      if (!isNew('delivered', labelKey(labels), startsAt, status)) continue;
      delivered.push({ atMs: journal.elapsedMs(), status, labels });
      if (delivered.length > KEPT) delivered.shift();
      journal.alert(`delivered, ${status}`, labels, status === 'firing' ? 'bad' : 'good');
    }
  };

  const receiveMessage = (body: string): void => {
    messages.push({ atMs: journal.elapsedMs(), ...parseMessage(body) });
    if (messages.length > KEPT) messages.shift();
  };

  const server = createServer(async (request, response) => {
    try {
      const body = await bodyOf(request);
      if (request.url === MESSAGES) receiveMessage(body);
      else receive(JSON.parse(body) as Notification);
      response.writeHead(200).end();
    } catch {
      response.writeHead(400).end();
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });

  const look = async (sources: AlertSources): Promise<void> => {
    const [active, held] = await Promise.all([
      askPrometheus(sources.prometheus()),
      askAlertmanager(sources.alertmanager()),
    ]);
    const muted = new Set(
      held.filter(({ status }) => status.inhibitedBy.length > 0).map(({ labels }) => labelKey(labels)),
    );
    for (const { labels, startsAt, status } of held) {
      if (status.inhibitedBy.length === 0 || !isNew('inhibited', labelKey(labels), startsAt)) continue;
      inhibited.push({ atMs: journal.elapsedMs(), labels });
      if (inhibited.length > KEPT) inhibited.shift();
      journal.alert('inhibited', labels, 'warn');
    }
    rows = active.map(({ labels, state }) => ({
      labels,
      state: state === 'firing' && muted.has(labelKey(labels)) ? 'inhibited' : state,
      delivered: open.has(labelKey(labels)),
    }));
  };

  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    webhookUrl: `${url}/alerts`,
    messageUrl: `${url}${MESSAGES}`,
    get rows() {
      return rows;
    },
    delivered,
    inhibited,
    messages,
    look,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const labelKey = (labels: AlertLabels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(',');

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
};

const askPrometheus = async (url: string | undefined) => {
  type Answer = { data?: { alerts?: { labels: AlertLabels; state: 'pending' | 'firing' }[] } };
  return listed((await ask<Answer>(url && `${url}/api/v1/alerts`))?.data?.alerts);
};

const askAlertmanager = async (url: string | undefined) => listed(await ask<Held[]>(url && `${url}/api/v2/alerts`));

/** The answer may be of another program that now uses the port. Then it is not a list of alerts. */
const listed = <Item>(answer: readonly Item[] | undefined): readonly Item[] => (Array.isArray(answer) ? answer : []);

const ask = async <Answer>(url: string | undefined): Promise<Answer | undefined> => {
  if (url === undefined) return undefined;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ASK_LIMIT_MS) });
    return response.ok ? ((await response.json()) as Answer) : undefined;
  } catch {
    return undefined;
  }
};
