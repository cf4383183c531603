import { AVAILABILITIES, type Availability, DEFAULT_JUDGEMENT, ERROR_CATEGORIES } from '@breakerbox/core';
import { PROFILES } from '../../packages/core/src/circuit/policy.ts';
import { type Option, type OptionsType, readEntries } from './read.ts';
import { SECTIONS, type Section } from './sections.ts';

/** A section with what was read for it. */
interface ReadSection extends Section {
  readonly read: OptionsType;
}

/** The text of docs/configuration.md. */
export const configurationPage = (sections: readonly Section[] = SECTIONS): string => {
  const entries = readEntries([...new Set(sections.map(({ from }) => from))]);
  const found = sections.map((section): ReadSection => {
    const read = entries.get(section.from)?.get(section.type);
    if (!read) {
      throw new Error(
        `docs/reference/sections.ts: ${section.from} exports no ${section.type}, so its options can't be shown. Name the type as the package does.`,
      );
    }
    return { ...section, read };
  });
  return `${[HEAD, contents(found), ...found.map((one) => render(one, found)), PROFILE_TABLE, CATEGORY_TABLE, PRECHECK_TABLE].join('\n\n')}\n`;
};

const HEAD = `<!-- Written by "node scripts/pnpm/pnpm.mjs run generate" from the types of the packages and their comments. Don't edit it here. -->
# Configuration

Every option of the three packages, generated from the types and their comments. To choose values, read [production.md](production.md).
Rules such as [C3](behaviour.md#c-circuit) are those of the engine.

A box, a tool, a session, a guard, an adapter, a check and telemetry check their options when you create them. They throw a
\`BreakerboxConfigError\` that lists up to 100 faults, misspelt names included, with the place of each and how to fix it. Options of one call
(\`acquire\`, \`settle\`, a guarded call) and of the format of a text are not checked for misspelt names: only the compiler sees those.
A call that is settled with neither \`outcome\`, \`error\` nor \`result\`, or with an unknown outcome, counts as ignored. An unknown category
counts as \`unknown\`. In both cases you get a [warning](troubleshooting.md#warnings). An \`Error\` without an object around it counts as
\`{ error }\`. Functions for reports and plans throw a \`BreakerboxUsageError\` if they cannot use what you give them.

\`BreakerboxPrometheusExporter\` takes the configuration of OpenTelemetry's \`PrometheusExporter\`. \`registerBreakerboxMetrics\` and
\`breakerboxMetricProducer\` have no options.

Options by environment variable: [OpenTelemetry's](../packages/telemetry/README.md#variables) for \`@breakerbox/telemetry\`, and the
\`BREAKERBOX_\` ones of [\`--import @breakerbox/instrumentation/register\`](../packages/instrumentation/README.md#for-all-runs-at-once).
\`BREAKERBOX_WARNINGS=off\` turns off the [warnings](troubleshooting.md#warnings) that all packages print to stderr for likely mistakes. Thresholds
of the alerts: [alerts](../alerts/README.md). Flags of the command: [\`breakerbox\`](../packages/cli/README.md).`;

const contents = (sections: readonly ReadSection[]): string =>
  [...sections.map(({ title }) => title), 'Profiles', ...Object.keys(UNIONS)]
    .map((title) => `- [${title}](#${slug(title)})`)
    .join('\n');

/** As GitHub makes an anchor of a heading. */
export const slug = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

const render = ({ title, from, read }: ReadSection, sections: readonly ReadSection[]): string => {
  const rows = read.options.map((option) => row(option, read, sections));
  const table = ['| option | type | default | what |', '|---|---|---|---|', ...rows].join('\n');
  const type = `Type \`${read.name}\` of \`${from}\`.`;
  return `## ${title}\n\n${type} ${prose(read.comment)}\n\n${table}`;
};

const row = (option: Option, { options }: OptionsType, sections: readonly ReadSection[]): string => {
  const { words, standard } = splitDefault(option.comment);
  const parts = options.some(({ name }) => name.startsWith(`${option.name}.`));
  const fallback = option.required ? 'required' : (standard ?? (parts ? 'as below' : 'none'));
  const cells = [`\`${option.name}\``, typeCell(option.type, sections), prose(fallback), prose(words)];
  return `| ${cells.map(cell).join(' | ')} |`;
};

const cell = (text: string): string => text.replaceAll(/(?<!\\)\|/g, '\\|');

/** Types that are unions of texts, by the sections that say what each means. */
const UNIONS: Readonly<Record<string, RegExp>> = {
  'Error categories': /\b(?:ErrorCategory|Judgement)\b/,
  'Pre-call checks': /\bAvailability\b/,
};

/** In code, and a link where it names a type that has a section. */
const typeCell = (type: string, sections: readonly ReadSection[]): string => {
  const named = sections.find(({ read }) => new RegExp(`\\b${read.name}\\b`).test(type));
  const title = named?.title ?? Object.keys(UNIONS).find((one) => UNIONS[one]?.test(type));
  return title === undefined ? `\`${type}\`` : `[\`${type}\`](#${slug(title)})`;
};

/**
 * Takes what a comment says of the default out of it. The house's comments say `Default 5.`, `Default: none.`, `…; default the
 * box's.` or `(…, the default)`.
 */
const splitDefault = (comment: string): { readonly words: string; readonly standard: string | undefined } => {
  const sentences = comment.split(/(?<=\.)\s+(?=[A-Z`{])/);
  const own = sentences.find((one) => /^Default\b/.test(one));
  if (own !== undefined) {
    const words = sentences.filter((one) => one !== own).join(' ');
    return { words, standard: own.replace(/^Default:? /, '').replace(/\.$/, '') };
  }
  const [clause, behind] = /; default ([^.;(]+?)(?= \(|\.|;)/.exec(comment) ?? [];
  if (clause !== undefined) return { words: comment.replace(clause, ''), standard: behind };
  const [, within] = /\((`[^`]+`), the default\)/.exec(comment) ?? [];
  return { words: comment, standard: within };
};

const CHAPTERS: Readonly<Record<string, string>> = {
  E: 'e-deciding-and-doing',
  O: 'o-outcomes',
  C: 'c-circuit',
  P: 'p-probing',
  B: 'b-failure-budget',
  D: 'd-limits-of-a-run',
  S: 's-systemic-failure',
  K: 'k-pre-call-checks',
  R: 'r-routes',
  W: 'w-reducing-scope',
  F: 'f-freshness',
  Q: 'q-reports',
  A: 'a-control',
  G: 'g-fleet',
  L: 'l-models',
};

/** Links of comments as code, rules as links. */
const prose = (comment: string): string =>
  comment
    .replaceAll(/\{@link ([\w.]+) ?\}/g, '`$1`')
    .replaceAll(/\((?:[A-Z]\d+(?:, )?)+\)/g, (rules) =>
      rules.replaceAll(/[A-Z]\d+/g, (rule) => `[${rule}](behaviour.md#${CHAPTERS[rule[0] ?? '']})`),
    );

const number = (value: number): string => value.toLocaleString('en-US');

const PROFILE_TABLE = [
  '## Profiles',
  '',
  'The settings of each `profile`. A single setting that you add overrides it.',
  '',
  '| profile | `failureThreshold` | `cooldownMs` |',
  '|---|---|---|',
  ...Object.entries(PROFILES).map(
    ([name, { failureThreshold, cooldownMs }]) => `| \`${name}\` | ${failureThreshold} | ${number(cooldownMs)} |`,
  ),
].join('\n');

const CATEGORY_TABLE = [
  '## Error categories',
  '',
  '`outcomes` changes these for a tool. An `ErrorCategory` is one of these, and a `Judgement` is `failure` or `ignored`. Ignored calls are',
  'counted, and affect neither circuit nor budget.',
  '',
  '| category | counts as |',
  '|---|---|',
  ...ERROR_CATEGORIES.map((category) => `| \`${category}\` | ${DEFAULT_JUDGEMENT[category]} |`),
].join('\n');

const SCORES: Readonly<Record<Availability, string>> = {
  available: 'nothing; so does a check that throws, hangs or answers something else',
  degraded: 'the circuit opens one failure earlier, never before the first',
  unavailable: 'calls go elsewhere, and circuit, budget and probes are left as they are',
};

const PRECHECK_TABLE = [
  '## Pre-call checks',
  '',
  'A `precheck` answers with an `Availability`. [Ready-made checks](../packages/instrumentation/README.md#pre-call-checks) do so too.',
  '',
  '| answer | does |',
  '|---|---|',
  ...AVAILABILITIES.map((one) => `| \`${one}\` | ${SCORES[one]} |`),
].join('\n');
