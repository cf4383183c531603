import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ERROR_CATEGORIES } from '../packages/core/src/index.ts';
import { ATTR } from '../packages/core/src/telemetry/semconv.ts';
import { namesIn } from './promql-names.ts';
import { checkWords, LABEL_VALUES, LABELS, numberCalled, SERIES, tryCall } from './runbooks.words.ts';
import { DEFAULT_SETTINGS } from './src/settings.ts';

const root = normalize(`${import.meta.dirname}/..`);
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const list = (folder: string, end: string): string[] =>
  (existsSync(join(root, folder)) ? readdirSync(join(root, folder)) : [])
    .filter((name) => name.endsWith(end))
    .map((name) => `${folder}/${name}`);

/** All matches of a pattern's groups. */
const all = (text: string, pattern: RegExp): string[][] => [...text.matchAll(pattern)].map((match) => match.slice(1));
const firsts = (text: string, pattern: RegExp): string[] => all(text, pattern).map(([first = '']) => first);

interface Rule {
  readonly alert: string;
  /** The title in Grafana: the alert's name and its scope. */
  readonly title: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
interface Groups {
  readonly groups: readonly { readonly rules: readonly Partial<Rule>[] }[];
}
const rules = list('alerts/rules', '.yml').flatMap((file) =>
  (parse(read(file)) as Groups).groups.flatMap((group) => group.rules),
);
const alerts = rules.filter((rule): rule is Rule => rule.alert !== undefined);
/** The same alerts as Grafana evaluates them, with their links. */
const grafana = list('alerts/grafana', '.yml').flatMap((file) =>
  (parse(read(file)) as Groups).groups.flatMap((group) => group.rules),
);

interface Panel {
  readonly title?: string;
  readonly panels?: readonly Panel[];
}
interface Dashboard extends Panel {
  readonly uid: string;
  readonly templating: { readonly list: readonly { readonly name: string }[] };
}
const dashboards = list('dashboards/generated', '.json').map((file): Dashboard => JSON.parse(read(file)));
const panelsOf = (panel: Panel): readonly string[] =>
  (panel.panels ?? []).flatMap((one) => [one.title ?? '', ...panelsOf(one)]);
/** Without the product's name, as runbooks write it. */
const nameOf = ({ title = '' }: Dashboard): string => title.replace('Breakerbox · ', '');

/** The text of a runbook, and the parts that the tests check. */
const runbookOf = (file: string) => {
  const text = read(file);
  const prose = text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
  const [head = '', ...sections] = text.split(/^## /m);
  const section = (title: string): string => sections.find((one) => one.startsWith(`${title}\n`)) ?? '';
  return {
    file,
    alert: basename(file, '.md'),
    text,
    prose,
    head,
    section,
    headings: sections.map((one) => one.split('\n')[0]),
    blocks: (language: string) => firsts(text, new RegExp(`^ *\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'gm')),
    panels: all(prose, /\*([A-Z][^*→]+) → ([^*]+)\*/g).map((names) =>
      names.map((name) => name.replaceAll(/\s+/g, ' ')),
    ),
    numbers: all(section('What it means'), /^\| (.+?) +\| (.+?) +\| `([\w.]+)` +\|$/gm),
  };
};
const pages = list('alerts/runbooks', '.md').map(runbookOf);
const runbooks = pages.filter(({ alert }) => alert !== 'README');
const each = runbooks.map((runbook) => [runbook.alert, runbook] as const);

/** Address of this repository's files, from the root's package.json. */
const blob = `${JSON.parse(read('package.json')).repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/`;
/** The anchor that GitHub makes of a heading. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
const anchorsOf = (text: string): string[] => firsts(text, /^#+ (.+)$/gm).map(anchor);

/** Seconds of `5 min`, `1 week`, `2 min 30 s`; undefined if it is not a time. */
const secondsIn = (text: string): number | undefined => {
  const units = new Map([
    ['s', 1],
    ['min', 60],
    ['h', 3600],
    ['day', 86_400],
    ['days', 86_400],
    ['week', 604_800],
  ]);
  const parts = all(text, /([\d.]+) ([a-z]+)/g);
  const isTime = parts.length > 0 && parts.every(([, unit = '']) => units.has(unit));
  return isTime
    ? parts.reduce((sum, [count, unit = '']) => sum + Number(count) * (units.get(unit) ?? 0), 0)
    : undefined;
};
/** A number as a text writes it: a time in seconds, a share as a part of 1. */
const numberIn = (text: string): number | undefined => {
  const [, share] = /^([\d.]+) %$/.exec(text) ?? [];
  return share === undefined ? (secondsIn(text) ?? Number(text)) : Number(share) / 100;
};

/** Alerts in which failures of tools have no part. */
const WITHOUT_ERRORS = [
  'BreakerboxTelemetryAbsent',
  'BreakerboxFleetDegraded',
  'BreakerboxLimitReached',
  'BreakerboxSpendBurn',
];

describe('runbooks', () => {
  it('exist for each alert', () => {
    expect(runbooks.map(({ alert }) => alert).sort()).toEqual([...new Set(alerts.map(({ alert }) => alert))].sort());
  });

  it('are listed in the index', () => {
    const index = pages.find(({ alert }) => alert === 'README');
    for (const { alert } of runbooks) expect(index?.text).toContain(`(${alert}.md)`);
  });

  it('explain each number of the rules, with its setting', () => {
    const explained = new Set(runbooks.flatMap(({ numbers }) => numbers.map(([, , setting]) => setting)));
    for (const setting of Object.keys(DEFAULT_SETTINGS)) expect(explained, setting).toContain(setting);
  });

  it.each(pages.map((page) => [page.file, page] as const))(
    'all links of %s lead to existing files and headings',
    (_, page) => {
      for (const target of firsts(page.prose, /\]\(([^)]+)\)/g)) {
        const [path = '', heading] = target.split('#');
        const file = target.startsWith(blob)
          ? path.slice(blob.length)
          : join('alerts/runbooks', path || `${page.alert}.md`);
        expect(existsSync(join(root, file)), `${target} of ${page.file}`).toBe(true);
        if (heading !== undefined) expect(anchorsOf(read(file)), target).toContain(heading);
      }
    },
  );
});

describe('links of the rules', () => {
  const linked = [...alerts, ...grafana].map(
    ({ alert, title = alert, annotations }) => [title, annotations?.runbook_url, annotations?.dashboard_url] as const,
  );

  it('exist for Prometheus and for Grafana', () => {
    expect(grafana.filter(({ annotations }) => annotations?.runbook_url !== undefined)).toHaveLength(alerts.length);
  });

  it.each(linked)('%s links to its runbook at %s', (title, url) => {
    expect(url).toBe(`${blob}alerts/runbooks/${title?.split(' ')[0]}.md`);
    expect(runbooks.map(({ file }) => blob + file)).toContain(url);
  });

  it.each(linked)('%s links to a dashboard, with variables that the dashboard has', (_, runbook = '', url = '') => {
    const link = new URL(url.replaceAll(/\{\{.*?\}\}/g, ''), 'http://grafana');
    const dashboard = dashboards.find(({ uid }) => link.pathname === `/d/${uid}`);
    const variables = dashboard?.templating.list.map(({ name }) => `var-${name}`);
    const asked = [...link.searchParams.keys()].filter((name) => !['from', 'to'].includes(name));
    expect(variables, link.pathname).toEqual(expect.arrayContaining(asked));
    expect(asked).not.toEqual([]);
    const { head } = runbookOf(runbook.replace(blob, ''));
    expect(head).toContain(`**Dashboard** ${dashboard && nameOf(dashboard)}.`);
  });
});

describe.each(each)('%s', (alert, runbook) => {
  const own = alerts.filter((one) => one.alert === alert);

  it('has all sections, in the same order as the others', () => {
    for (const { labels, annotations } of own) {
      expect(runbook.text.startsWith(`# ${alert}\n\n**Severity** ${labels.severity}. **Labels** \``)).toBe(true);
      for (const name of firsts(Object.values(annotations).join(), /\$labels\.(\w+)/g)) {
        expect(runbook.head, name).toContain(`\`${name}\``);
      }
    }
    expect(runbook.headings).toEqual([
      'What it means',
      'What it costs',
      'First look',
      'Likely causes',
      'What to do',
      'Recovered when',
      "What it doesn't see",
      'Related alerts',
    ]);
    expect(runbook.section("What it doesn't see")).toContain('False alarms');
  });

  it('A9: names the command with which an operator looks or acts', () => {
    expect(runbook.text).toMatch(/`breakerbox ctl (?:list|force-open|disable|resume|confirm)/);
  });

  it('says before a query that divides what it divides by', () => {
    for (const [, before, query = ''] of runbook.text.matchAll(/(.+(?:\n.+)*)\n\n *```promql\n([^`]*)```/g)) {
      if (/^ *\/|\) \/ /m.test(query)) expect(before).toMatch(/divided by|share of|of the failures that/);
    }
  });

  it('gives the numbers of the rules', () => {
    expect(runbook.numbers.length).toBeGreaterThan(0);
    expect(firsts(runbook.section('What it means'), /^(\|(?! number|[ -]+\|).+)$/gm)).toHaveLength(
      runbook.numbers.length,
    );
    for (const [, value = '', name = ''] of runbook.numbers) expect(numberIn(value), name).toBe(numberCalled(name));
  });

  it('gives no other times and shares in its prose', () => {
    const known = runbook.numbers.map(([, value = '']) => numberIn(value));
    const prose = runbook.section('What it means').replaceAll(/^\|.*$|\([^)]*by default[^)]*\)/gm, '');
    for (const number of firsts(prose, /(\d[\d.]* (?:%|(?:s|min|h|days?|week)\b)(?: \d+ s\b)?)/g)) {
      expect(known, number).toContain(numberIn(number));
    }
  });

  it('shows panels that exist', () => {
    expect(runbook.panels.length).toBeGreaterThan(0);
    for (const [name, panel] of runbook.panels) {
      const dashboard = dashboards.find((one) => nameOf(one) === name);
      expect(dashboard && panelsOf(dashboard), `${name} → ${panel}`).toContain(panel);
    }
  });

  // No recorded series, because Grafana-managed alerts work without them.
  it('has queries that parse, with names and values of the code', () => {
    for (const section of ['First look', 'Recovered when']) expect(runbook.section(section)).toContain('```promql');
    for (const query of runbook.blocks('promql')) {
      const { metrics, labels } = namesIn(query);
      for (const name of metrics) expect([...SERIES, 'up']).toContain(name);
      for (const name of labels) expect(LABELS, name).toContain(name);
      for (const [name = '', value = ''] of all(query, /(\w+)(?:=~|!~|!=|=)"([^"]*)"/g)) {
        for (const one of value.split('|'))
          expect(LABEL_VALUES.get(name) ?? [one], `${name} in: ${query}`).toContain(one);
      }
    }
  });

  it('searches for traces by attributes that spans have', () => {
    expect(runbook.blocks('traceql').length).toBeGreaterThan(0);
    for (const search of runbook.blocks('traceql')) {
      const attributes = firsts(search, /span\.([\w.]+)/g);
      expect(Object.values<string>(ATTR)).toEqual(expect.arrayContaining(attributes));
      expect(search.replaceAll(/"[^"]*"/g, '')).toMatch(/^ *\{ [^{}]+ \}(?: \| select\([\w., ]+\))?\n$/);
    }
  });

  it('covers each error category', () => {
    const causes = runbook.section('Likely causes');
    if (WITHOUT_ERRORS.includes(alert)) return expect(causes).toContain('no part in this alert');
    for (const category of ERROR_CATEGORIES) expect(causes, category).toContain(`\`${category}\``);
  });
});

describe('names in code marks', () => {
  it.each(pages.map((page) => [page.file, page] as const))('of %s exist, and the calls work', (_, page) => {
    for (const text of new Set(firsts(page.prose, /`([^`]+)`/g))) {
      if (!existsSync(join(root, text))) checkWords(text);
    }
  });

  it('are rejected if they do not exist', () => {
    expect(() => checkWords('session.reset()')).toThrow('session.reset() is not a call');
    expect(() => tryCall("session.control('TOOL', 'shut')")).toThrow(/shut/);
    expect(() => tryCall('session.view().colour')).toThrow('gives no value');
    expect(() => checkWords("mode: 'shut'")).toThrow(/Correct it/);
    expect(() => checkWords('cooldownSeconds')).toThrow(/cooldownSeconds/);
  });
});
