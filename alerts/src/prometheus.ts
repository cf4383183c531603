import { Document, type Pair, Scalar, YAMLMap, type YAMLSeq } from 'yaml';
import type { AlertDefinition } from './alert.ts';
import { prometheusDialect } from './dialect.ts';
import { withLevels } from './levels.ts';
import { RECORDED } from './record.ts';
import { RECORDING_SUBJECTS } from './recording.ts';
import { alertsWith, annotationsOf, groundOf, type Resolved, type RuleOptions, resolved } from './rules.ts';

/** A file and the name it should have. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** Rules that Prometheus evaluates together, in order. It evaluates groups side by side. */
export interface RuleGroup {
  readonly name: string;
  /** Default: the evaluation interval of Prometheus. */
  readonly interval?: string | undefined;
  readonly rules: readonly CommentedRule[];
}

/** A rule in Prometheus' format, with the comment above it in the file. */
export interface CommentedRule {
  readonly comment: string;
  readonly rule: PrometheusRule;
}
export interface PrometheusRule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const WIDTH = 118;

/** The lines of a comment, broken between words. */
export const wrapped = (text: string, width: number): string => {
  const lines = text.split('\n').flatMap((line) => {
    const broken: string[] = [];
    for (const word of line.split(' ')) {
      const last = broken.at(-1);
      if (last === undefined || last.length + 1 + word.length > width) broken.push(word);
      else broken[broken.length - 1] = `${last} ${word}`;
    }
    return broken;
  });
  return lines.map((line) => ` ${line}`).join('\n');
};

const named = (group: string, interval: string | undefined): string =>
  interval === undefined ? group : `${group}.${interval}`;

/**
 * The recording rules, in a group for each subject and interval. Mimir accepts at most 20 rules in a group, unless
 * `ruler.max-rules-per-rule-group` says otherwise.
 */
export const recordingGroups = (options: Resolved): readonly RuleGroup[] => {
  const ground = groundOf(options);
  return Object.entries(RECORDING_SUBJECTS).flatMap(([subject, recordings]) =>
    [...new Set(recordings.map(({ every }) => every))].map((interval) => ({
      name: named(`breakerbox.${subject}`, interval),
      interval: interval ?? '30s',
      rules: recordings
        .filter(({ every }) => every === interval)
        .map((one) => ({
          comment: one.comment,
          rule: { record: RECORDED[one.key], expr: withLevels(one.expr(ground), options.levels) },
        })),
    })),
  );
};

const alertRules = (options: Resolved, every: AlertDefinition['every']): readonly CommentedRule[] => {
  const ground = groundOf(options);
  return alertsWith(options.settings)
    .filter((one) => one.every === every)
    .map((one) => {
      const lasting = one.for?.(options.settings);
      const kept = one.keepFiringFor?.(options.settings);
      return {
        comment: one.comment,
        rule: {
          alert: one.name,
          expr: withLevels(one.expr(ground), options.levels),
          ...(lasting !== undefined && { for: lasting }),
          ...(kept !== undefined && { keep_firing_for: kept }),
          labels: { severity: one.severity, ...(one.scope !== undefined && { scope: one.scope }) },
          annotations: { ...annotationsOf(one, options, prometheusDialect(options)) },
        },
      };
    });
};

/** The alerts, in a group for each interval. */
export const alertGroups = (options: Resolved): readonly RuleGroup[] =>
  ([undefined, '1m'] as const).map((interval) => ({
    name: named('breakerbox.alerts', interval),
    interval,
    rules: alertRules(options, interval),
  }));

/** Layout of strings: PromQL with one operand per line, sentences folded. */
const laidOut = (node: unknown): void => {
  if (!(node instanceof YAMLMap)) return;
  for (const { key, value } of node.items as Pair<Scalar<string>, unknown>[]) {
    if (value instanceof Scalar && typeof value.value === 'string') {
      if (value.value.includes('\n') || (key.value === 'expr' && value.value.length > 100))
        value.type = Scalar.BLOCK_LITERAL;
      else if (key.value === 'description') value.type = Scalar.BLOCK_FOLDED;
    }
    laidOut(value);
  }
};

/** Keeps links on one line: a folded link cannot be followed. */
export const unbroken = (yaml: string): string =>
  yaml.replaceAll(/dashboard_url: (?:"[^"]*"|'[^']*')/g, (link) => link.replaceAll(/\n\s+/g, ' '));

/** The groups as YAML, each rule below its comment. With `object`, they are the `spec` of that object of Kubernetes. */
export const rendered = (header: string, groups: readonly RuleGroup[], object?: object): string => {
  const content = {
    groups: groups.map(({ name, interval, rules }) => ({
      name,
      ...(interval !== undefined && { interval }),
      rules: rules.map(({ rule }) => rule),
    })),
  };
  // Prometheus and Kubernetes read YAML 1.1, in which an unquoted `yes` is a boolean.
  const document = new Document(object === undefined ? content : { ...object, spec: content }, { schema: 'yaml-1.1' });
  document.commentBefore = wrapped(header, WIDTH);
  for (const [group, { rules }] of groups.entries()) {
    const nodes = document.getIn([
      ...(object === undefined ? [] : ['spec']),
      'groups',
      group,
      'rules',
    ]) as YAMLSeq<YAMLMap>;
    for (const [index, node] of nodes.items.entries()) {
      const comment = rules[index]?.comment ?? '';
      if (comment !== '') node.commentBefore = wrapped(comment, WIDTH - 6);
      if (index > 0 && comment !== '') node.spaceBefore = true;
      laidOut(node);
    }
  }
  return unbroken(document.toString({ lineWidth: 120 }));
};

export const NARROWED = (selector: string): string =>
  selector === '' ? '' : `\nThese rules read only the series that match: ${selector}`;

/** The files are used in the repository, in bundles and in copies, so their comments must not name other paths. */
export const GENERATED =
  'Generated by Breakerbox. Its settings contain every threshold. The next generation overwrites changes in this file.';

const RECORDING_HEADER = `Recording rules of Breakerbox. Plain YAML for Prometheus 2.42 and later, including 3.x.
${GENERATED}

Names are level:metric:operation. The level lists the labels that remain: job, agent (gen_ai_agent_name), tool (gen_ai_tool_name) and error (error_type). Summing by them removes instance and otel_scope_*, so that replicas and library versions never split a series.`;

export const aboutTexts = ({ grafanaUrl }: Resolved): string =>
  `${grafanaUrl === undefined ? 'dashboard_url is a path without a host until the external label grafana_url gives Prometheus the address of Grafana.\n' : ''}summary is a title with agent, tools and error category. began is the time when the trouble began.`;

const ALERTS_HEADER = `Alerts of Breakerbox. Plain YAML for Prometheus 2.42 and later, including 3.x. Needs breakerbox.recording.yml beside it.
${GENERATED}`;

/**
 * The rules for Prometheus: a file of recording rules, and a file of alerts that read the recorded series.
 *
 * @throws RuleOptionsError that lists all faults: what is wrong, where, why, and how to fix it.
 * @example for (const { name, text } of ruleFiles({ selector: 'job=~"agents-.+"' })) writeFileSync(name, text);
 */
export const ruleFiles = (options: RuleOptions = {}): readonly NamedText[] => {
  const known = resolved(options);
  return [
    {
      name: 'breakerbox.recording.yml',
      text: rendered(RECORDING_HEADER + NARROWED(known.selector), recordingGroups(known)),
    },
    {
      name: 'breakerbox.alerts.yml',
      text: rendered(`${ALERTS_HEADER}\n\n${aboutTexts(known)}${NARROWED(known.selector)}`, alertGroups(known)),
    },
  ];
};
