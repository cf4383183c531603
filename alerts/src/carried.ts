import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parse, parseDocument } from 'yaml';
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
  /** Templates that make readable messages. */
  readonly templates: readonly NamedText[];
  /** What the stack groups notifications by, and the inhibition is made for. */
  readonly groupBy: readonly string[];
}

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
  return { inhibitRules: inhibitRulesOf(text), templates: filesIn(folder, '.tmpl'), groupBy: route.group_by };
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
