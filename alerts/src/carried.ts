import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parse, parseDocument, stringify } from 'yaml';
import { checkedLevels, type Level } from './levels.ts';
import type { NamedText } from './prometheus.ts';

/*
 * Files that this package ships beside its code. The code is in src/ or in dist/, and the package's root is above both.
 */

/** One runbook per alert, named like the alert. `runbook_url` points there. */
const RUNBOOKS = new URL('../runbooks/', import.meta.url);

/**
 * Where Alertmanager's files are. The repository's stack uses them, and `prepack` in package.json copies them into the published
 * package, so that there is one source.
 */
const ALERTMANAGER = [
  new URL('../../stack/alertmanager/', import.meta.url),
  new URL('../alertmanager/', import.meta.url),
];

/** The runbooks, by name. */
export const runbooks = (): readonly NamedText[] => filesIn(RUNBOOKS, '.md');

/** The parts that you copy into your own Alertmanager. */
export interface AlertmanagerParts {
  /** A YAML file that contains only `inhibit_rules`, with its comments. */
  readonly inhibitRules: NamedText;
  /** A YAML file that contains only `receivers`: one for Slack and one for mail, with addresses to fill in. */
  readonly receivers: NamedText;
  /** Templates for readable messages. */
  readonly templates: readonly NamedText[];
  /** The labels that the stack groups notifications by. The inhibition rules expect them. */
  readonly groupBy: readonly string[];
}

/** The names of the receivers in the file. */
export const RECEIVERS = { slack: 'breakerbox-slack', mail: 'breakerbox-mail' } as const;

/**
 * The parts of the stack's Alertmanager configuration that concern Breakerbox' alerts and fit any installation.
 * @param options `levels` of the rules: then alerts of other namespaces or clusters are other groups, and mute nothing
 * @throws Error if the package was built without these files
 */
export const alertmanagerParts = ({ levels }: { readonly levels?: readonly Level[] } = {}): AlertmanagerParts => {
  const own = checkedLevels(levels);
  const folder = ALERTMANAGER.find((one) => filesIn(one, '.yml').length > 0);
  if (folder === undefined) {
    throw new Error(
      '@breakerbox/alerts: the folder alertmanager/ is missing. Packing copies it from stack/alertmanager. Install the package again, or pack it with pnpm.',
    );
  }
  const text = readFileSync(new URL('alertmanager.yml', folder), 'utf8');
  const { route }: { route: { group_by: readonly string[] } } = parse(text);
  return {
    inhibitRules: inhibitRulesOf(text, own),
    receivers: receiversOf(text),
    templates: filesIn(folder, '.tmpl'),
    groupBy: [...route.group_by, ...own],
  };
};

interface Receiver {
  readonly slack_configs: readonly Readonly<Record<string, unknown>>[];
  readonly email_configs: readonly Readonly<Record<string, unknown>>[];
}

/** The stack sends Slack messages to its own pager. Its mail receiver is commented out, because the stack has no mail server. */
const MAIL = /^( *)# email_configs:\n(?:\1# {3}.*\n)+/m;

const RECEIVERS_HEADER = `# Receivers of Breakerbox' alerts, for Alertmanager 0.25 and later: copy one or both to receivers in alertmanager.yml.
# Put the address of Slack's incoming webhook into the file that api_url_file names, so that few people can read it. For mail, fill
# in to, from, smarthost and the user.
# PagerDuty, Opsgenie, Teams and others: use breakerbox.title as description or title, and breakerbox.plain as text.
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

/** A cause mutes only effects of its own levels. */
const inhibitRulesOf = (config: string, levels: readonly Level[]): NamedText => {
  const document = parseDocument(config);
  for (const key of Object.keys(document.toJS() as Record<string, unknown>)) {
    if (key !== 'inhibit_rules') document.delete(key);
  }
  document.commentBefore = null;
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  const equal = `equal: [${[...levels, ''].join(', ')}`;
  return { name: 'inhibit_rules.yml', text: `${text.trim().replaceAll('equal: [', equal)}\n` };
};

/** The files of all folders below, each under its file name without the folder. */
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
