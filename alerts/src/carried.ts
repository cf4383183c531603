import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parse, parseDocument, stringify } from 'yaml';
import type { NamedText } from './prometheus.ts';

/*
 * What this package carries as files beside its code, which stands in src/ or in dist/: both have the package's root above them.
 */

/** One for each alert, named as the alert; `runbook_url` leads there. */
const RUNBOOKS = new URL('../runbooks/', import.meta.url);

/**
 * Where Alertmanager's files are: the repository's stack runs with them, and the published package takes a copy along (`prepack`
 * in package.json), so that they are written once.
 */
const ALERTMANAGER = [
  new URL('../../stack/alertmanager/', import.meta.url),
  new URL('../alertmanager/', import.meta.url),
];

/** The runbooks, by name. */
export const runbooks = (): readonly NamedText[] => filesIn(RUNBOOKS, '.md');

/** What belongs into a team's own Alertmanager. */
export interface AlertmanagerParts {
  /** A YAML file of nothing but `inhibit_rules`, with its comments. */
  readonly inhibitRules: NamedText;
  /** A YAML file of nothing but `receivers`: one for Slack, one for mail, with addresses to fill in. */
  readonly receivers: NamedText;
  /** Templates that make readable messages. */
  readonly templates: readonly NamedText[];
  /** What the stack groups notifications by, and the inhibition is made for. */
  readonly groupBy: readonly string[];
}

/** The receivers of the file, by name. */
export const RECEIVERS = { slack: 'breakerbox-slack', mail: 'breakerbox-mail' } as const;

/**
 * The parts of the stack's Alertmanager configuration that are about Breakerbox' alerts and no one installation.
 * @throws Error where the package was put together without them
 */
export const alertmanagerParts = (): AlertmanagerParts => {
  const folder = ALERTMANAGER.find((one) => filesIn(one, '.yml').length > 0);
  if (folder === undefined) {
    throw new Error(
      '@breakerbox/alerts: its folder alertmanager/ is missing, which is copied from stack/alertmanager when the package is packed. Install the package anew, or pack it with pnpm.',
    );
  }
  const text = readFileSync(new URL('alertmanager.yml', folder), 'utf8');
  const { route }: { route: { group_by: readonly string[] } } = parse(text);
  return {
    inhibitRules: inhibitRulesOf(text),
    receivers: receiversOf(text),
    templates: filesIn(folder, '.tmpl'),
    groupBy: route.group_by,
  };
};

interface Receiver {
  readonly slack_configs: readonly Readonly<Record<string, unknown>>[];
  readonly email_configs: readonly Readonly<Record<string, unknown>>[];
}

/** The stack's Slack goes to a pager of its own, and its mail is in a comment, for it has no server to send by. */
const MAIL = /^( *)# email_configs:\n(?:\1# {3}.*\n)+/m;

const RECEIVERS_HEADER = `# Receivers of Breakerbox' alerts, for Alertmanager 0.25 and later: put one of them, or both, under receivers in alertmanager.yml.
# The address of Slack's incoming webhook is in the file that api_url_file names, where it isn't read by everybody. A mail: fill
# in to, from, smarthost and the user.
# PagerDuty, Opsgenie, Teams and the rest take breakerbox.title as description or title, and breakerbox.plain as text.
`;

const receiversOf = (config: string): NamedText => {
  const withMail = config.replace(MAIL, (lines) => lines.replaceAll(/^( *)# /gm, '$1'));
  const { receivers }: { receivers: readonly Receiver[] } = parse(withMail);
  const [{ slack_configs = [], email_configs = [] } = {}] = receivers as readonly Partial<Receiver>[];
  const slack = slack_configs.map(({ api_url, ...rest }) => ({
    api_url_file: '/etc/alertmanager/slack-webhook',
    ...rest,
  }));
  const own = {
    receivers: [
      { name: RECEIVERS.slack, slack_configs: slack },
      { name: RECEIVERS.mail, email_configs },
    ],
  };
  return { name: 'receivers.yml', text: RECEIVERS_HEADER + stringify(own, { lineWidth: 0 }) };
};

const inhibitRulesOf = (config: string): NamedText => {
  const document = parseDocument(config);
  for (const key of Object.keys(document.toJS() as Record<string, unknown>)) {
    if (key !== 'inhibit_rules') document.delete(key);
  }
  document.commentBefore = null;
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  return { name: 'inhibit_rules.yml', text: `${text.trim()}\n` };
};

/** Those of all folders below, each with its own name alone. */
const filesIn = (folder: URL, end: string): readonly NamedText[] =>
  namesIn(folder)
    .filter((name) => name.endsWith(end))
    .toSorted()
    .map((name) => ({ name: basename(name), text: readFileSync(new URL(name, folder), 'utf8') }));

const namesIn = (folder: URL): readonly string[] => {
  try {
    return readdirSync(folder, { encoding: 'utf8', recursive: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
};
