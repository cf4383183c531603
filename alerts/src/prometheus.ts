import { Document, type Pair, Scalar, YAMLMap, type YAMLSeq } from 'yaml';
import { prometheusDialect } from './dialect.ts';
import { RECORDED } from './record.ts';
import { RECORDINGS } from './recording.ts';
import { ALERT_DEFINITIONS, annotationsOf, groundOf, type Resolved, type RuleOptions, resolved } from './rules.ts';

/** A file, by the name it should have. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** A rule as Prometheus reads it, with what stands above it in the file. */
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

/** A comment's lines, broken between words. */
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

export const recordingRules = (options: Resolved): readonly CommentedRule[] => {
  const ground = groundOf(options);
  return RECORDINGS.map((one) => ({
    comment: one.comment,
    rule: { record: RECORDED[one.key], expr: one.expr(ground) },
  }));
};

export const alertRules = (options: Resolved): readonly CommentedRule[] => {
  const ground = groundOf(options);
  return ALERT_DEFINITIONS.map((one) => {
    const lasting = one.for?.(options.settings);
    const kept = one.keepFiringFor?.(options.settings);
    return {
      comment: one.comment,
      rule: {
        alert: one.name,
        expr: one.expr(ground),
        ...(lasting !== undefined && { for: lasting }),
        ...(kept !== undefined && { keep_firing_for: kept }),
        labels: { severity: one.severity, ...(one.scope !== undefined && { scope: one.scope }) },
        annotations: { ...annotationsOf(one, options, prometheusDialect(options.grafanaUrl)) },
      },
    };
  });
};

/** How strings are laid out: PromQL as it is, one operand a line; sentences folded at the margin. */
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

/** Links on one line: nobody can follow one that is folded. */
export const unbroken = (yaml: string): string =>
  yaml.replaceAll(/dashboard_url: (?:"[^"]*"|'[^']*')/g, (link) => link.replaceAll(/\n\s+/g, ' '));

const rendered = (group: string, header: string, rules: readonly CommentedRule[]): string => {
  const document = new Document({ groups: [{ name: group, rules: rules.map(({ rule }) => rule) }] });
  document.commentBefore = wrapped(header, WIDTH);
  const nodes = document.getIn(['groups', 0, 'rules']) as YAMLSeq<YAMLMap>;
  nodes.items.forEach((node, index) => {
    const comment = rules[index]?.comment ?? '';
    if (comment !== '') node.commentBefore = wrapped(comment, WIDTH - 6);
    if (index > 0 && comment !== '') node.spaceBefore = true;
    laidOut(node);
  });
  return unbroken(document.toString({ lineWidth: 120 }));
};

const NARROWED = (selector: string): string => (selector === '' ? '' : `\nOf all series, these rules see: ${selector}`);

const RECORDING_HEADER = `Recording rules of Breakerbox. Plain Prometheus 2.42 YAML; runs on 3.x too.
Generated from alerts/src: don't edit this file. Thresholds are in alerts/src/settings.ts.

Names are level:metric:operation. The level lists the labels that are left: job, agent (gen_ai_agent_name), tool (gen_ai_tool_name) and error (error_type). Summing by them also removes instance and otel_scope_*, so that a replica or a new version of the library never splits a series.`;

const ALERTS_HEADER = `Alerts of Breakerbox. Plain Prometheus 2.42 YAML; runs on 3.x too. Needs breakerbox.recording.yml beside it.
Generated from alerts/src: don't edit this file. Thresholds are in alerts/src/settings.ts.

dashboard_url is relative to Grafana until the external label grafana_url gives Prometheus the host: see ../README.md.
summary is one sentence for the whole group that Alertmanager sends (alertname, agent, job); what differs by tool is in description.`;

/**
 * The rules for Prometheus: a file of recording rules, and a file of alerts that needs it beside it.
 *
 * @throws RuleOptionsError where the options can't work: what, where, why, and how to mend it.
 * @example for (const { name, text } of ruleFiles({ selector: 'job=~"agents-.+"' })) writeFileSync(name, text);
 */
export const ruleFiles = (options: RuleOptions = {}): readonly NamedText[] => {
  const known = resolved(options);
  return [
    {
      name: 'breakerbox.recording.yml',
      text: rendered('breakerbox.recording', RECORDING_HEADER + NARROWED(known.selector), recordingRules(known)),
    },
    {
      name: 'breakerbox.alerts.yml',
      text: rendered('breakerbox.alerts', ALERTS_HEADER + NARROWED(known.selector), alertRules(known)),
    },
  ];
};
