import { RuleOptionsError } from './check-settings.ts';
import {
  aboutTexts,
  alertGroups,
  GENERATED,
  NARROWED,
  type NamedText,
  recordingGroups,
  rendered,
} from './prometheus.ts';
import { type RuleOptions, resolved } from './rules.ts';
import type { RuleIssue } from './setting-orders.ts';

/** The metadata of the object for the Prometheus operator. */
export interface OperatorMetadata {
  /** Namespace of the object. Default: none, so `kubectl apply -n` decides. */
  readonly namespace?: string;
  /** Labels of the object. They must match `ruleSelector` of your Prometheus, such as `{ release: 'monitoring' }`. Default: none. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Options of the object for the Prometheus operator, in addition to those of all rules. */
export interface OperatorOptions extends RuleOptions, OperatorMetadata {}

const NAME = /^[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/;
const DNS = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** A name may have a DNS domain as its prefix: `app.kubernetes.io/name`. */
const isLabelName = (text: string): boolean => {
  const [name = '', prefix, ...others] = text.split('/').toReversed();
  const isPrefix = (domain: string): boolean => domain.length <= 253 && domain.split('.').every((one) => DNS.test(one));
  return NAME.test(name) && others.length === 0 && (prefix === undefined || isPrefix(prefix));
};

const namespaceIssues = ({ namespace }: OperatorMetadata): readonly RuleIssue[] => {
  if (namespace === undefined || DNS.test(namespace)) return [];
  const message = `is ${JSON.stringify(namespace)}, which Kubernetes rejects. Write up to 63 lower-case letters, digits and -, such as monitoring.`;
  return [{ path: 'namespace', message }];
};

const labelIssues = ({ labels = {} }: OperatorMetadata): readonly RuleIssue[] =>
  Object.entries(labels).flatMap(([name, value]) => {
    const path = `labels.${name}`;
    if (!isLabelName(name)) {
      const message =
        'is not a label name of Kubernetes. Write up to 63 letters, digits, -, _ and ., such as release or app.kubernetes.io/name.';
      return [{ path, message }];
    }
    if (value === '' || NAME.test(value)) return [];
    const message = `is ${JSON.stringify(value)}, which Kubernetes rejects. Write up to 63 letters, digits, -, _ and .; begin and end with a letter or digit.`;
    return [{ path, message }];
  });

/** What Kubernetes would reject. The path of a label is `labels.NAME`. */
export const metadataIssues = (metadata: OperatorMetadata): readonly RuleIssue[] => [
  ...namespaceIssues(metadata),
  ...labelIssues(metadata),
];

const HEADER = `Recording rules and alerts of Breakerbox as one PrometheusRule, for the Prometheus operator 0.66 and later. These are the rules of breakerbox.recording.yml and breakerbox.alerts.yml. Use this object or those files, not both.
${GENERATED}

Your Prometheus loads the object if its ruleSelector matches the labels, and its ruleNamespaceSelector the namespace.`;

/**
 * The recording rules and the alerts of {@link ruleFiles} as one `PrometheusRule` object, for the Prometheus operator.
 *
 * @throws RuleOptionsError that lists all faults: what is wrong, where, why, and how to fix it.
 * @example const { name, text } = operatorRules({ namespace: 'monitoring', labels: { release: 'kube-prometheus-stack' } });
 */
export const operatorRules = (options: OperatorOptions = {}): NamedText => {
  const { namespace, labels = {}, ...others } = options;
  const issues = metadataIssues(options);
  if (issues.length > 0) throw new RuleOptionsError(issues);
  const known = resolved(others);
  const object = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: {
      name: 'breakerbox',
      ...(namespace !== undefined && { namespace }),
      ...(Object.keys(labels).length > 0 && { labels }),
    },
  };
  return {
    name: 'breakerbox.prometheusrule.yml',
    text: rendered(
      `${HEADER}\n${aboutTexts(known)}${NARROWED(known.selector)}`,
      [...recordingGroups(known), ...alertGroups(known)],
      object,
    ),
  };
};
