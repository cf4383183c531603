import type { AlertDefinition } from './alert.ts';
import type { AlertLabel } from './dialect.ts';
import { type Ground, RECORDED, type RecordKey } from './record.ts';
import { RECORDINGS } from './recording.ts';
import { ALERT_DEFINITIONS, ALERTS, groundOf, resolved } from './rules.ts';
import { settingDocs } from './setting-docs.ts';
import { DEFAULT_SETTINGS, type RuleSettings } from './settings.ts';

/*
 * The tables of README.md, between `<!-- NAME: … -->` and `<!-- end -->`.
 */

/** The settings that a rule and its recorded series read. */
const settingsOf = (alert: AlertDefinition): ReadonlySet<string> => {
  const found = new Set<string>();
  const settings: RuleSettings = new Proxy(DEFAULT_SETTINGS, {
    get: (target, name) => {
      found.add(String(name));
      return Reflect.get(target, name);
    },
  });
  const visited = new Set<RecordKey>();
  const now = (key: RecordKey): string => {
    if (!visited.has(key)) {
      visited.add(key);
      for (const one of RECORDINGS) if (one.key === key) one.expr(ground);
    }
    return RECORDED[key];
  };
  const ground: Ground = {
    ...groundOf({ ...resolved({}), settings }),
    read: { now, over: (key, range) => `${now(key)}[${range}]` },
  };
  alert.expr(ground);
  alert.says(settings);
  alert.for?.(settings);
  alert.keepFiringFor?.(settings);
  return found;
};

const WORDS: Readonly<Record<AlertLabel, string>> = {
  job: 'job',
  agent: 'agent',
  tool: 'tool',
  error: 'error category',
  currency: 'currency',
};

const labelsOf = ({ scope, labels }: AlertDefinition): string =>
  `${scope === undefined ? '' : `\`scope="${scope}"\`: `}${labels.map((label) => WORDS[label]).join(', ')}`;

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const alertTable = (): string => {
  const docs = settingDocs();
  return table(
    ['alert', 'severity', 'fires when', 'thresholds', 'windows and times', 'by'],
    ALERTS.map(({ name, severity, says }) => {
      const rules = ALERT_DEFINITIONS.filter((one) => one.name === name);
      const read = new Set(rules.flatMap((one) => [...settingsOf(one)]));
      const listed = (durations: boolean): string =>
        docs
          .filter((doc) => read.has(doc.name) && (doc.unit === 'duration') === durations)
          .map((doc) => `\`${doc.name}\` ${doc.default}`)
          .join(', ');
      const by = rules.map(labelsOf).join('; ');
      return [`[${name}](runbooks/${name}.md)`, severity, says, listed(false), listed(true), by];
    }),
  );
};

const settingTable = (): string =>
  table(
    ['setting', 'default', 'meaning'],
    settingDocs().map((doc) => [`\`${doc.name}\``, `\`${doc.default}\``, doc.meaning]),
  );

const TABLES: Readonly<Record<string, () => string>> = { alerts: alertTable, settings: settingTable };

/**
 * The page with its tables as the definitions and settings give them.
 * @throws Error if the page lacks a table
 */
export const withTables = (page: string): string =>
  Object.entries(TABLES).reduce((text, [name, made]) => {
    const marks = new RegExp(`(<!-- ${name}: .* -->\\n)[^]*?(<!-- end -->)`);
    if (!marks.test(text))
      throw new Error(`alerts/README.md has no table between <!-- ${name}: … --> and <!-- end -->.`);
    return text.replace(marks, (_, begin: string, end: string) => `${begin}\n${made()}\n\n${end}`);
  }, page);
