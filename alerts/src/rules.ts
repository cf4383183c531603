import { AGENT_ALERTS } from './agent-alerts.ts';
import type { AlertDefinition, Severity, TextGround } from './alert.ts';
import { alertSince } from './began.ts';
import { checkSettings } from './check-settings.ts';
import { CORRELATED_ALERTS } from './correlated-alerts.ts';
import type { AlertLabel, DashboardUid, Dialect } from './dialect.ts';
import { checkedLevels, type Level, textWithLevels } from './levels.ts';
import { MODEL_ALERTS } from './model-alerts.ts';
import { seriesWith } from './promql.ts';
import { type Ground, RECORDED, type Reader } from './record.ts';
import { checkedSelector, inTemplate } from './selector.ts';
import { DEFAULT_SETTINGS, type RuleSettings } from './settings.ts';
import { SPEND_ALERTS } from './spend-alerts.ts';
import { TOOL_ALERTS } from './tool-alerts.ts';
import { checkedUrl } from './url.ts';

/** What you can change in the rules. Everything has a default. */
export interface RuleOptions {
  /** Thresholds that differ from {@link DEFAULT_SETTINGS}. */
  readonly settings?: Partial<RuleSettings>;
  /** PromQL matchers that narrow each query, such as `job=~"agents-.+"`. Default: none. */
  readonly selector?: string;
  /**
   * Grafana's address, such as `https://grafana.example.com`, which `dashboard_url` begins with. Default: for Prometheus its external
   * label `grafana_url`, for Grafana its own address.
   */
  readonly grafanaUrl?: string;
  /**
   * Address of the operators' console (`breakerbox console`), such as `https://console.example.com`. `console_url` of each alert opens it
   * at the agent and the tool (A9). Default: for Prometheus its external label `console_url`, for Grafana none.
   */
  readonly consoleUrl?: string;
  /**
   * Labels of your targets that tell installations apart: `namespace`, `cluster`. Series, alerts and messages have them then, and agents
   * of one job and name in two namespaces are different agents. Default: none.
   */
  readonly levels?: readonly Level[];
  /** Address of the runbooks: `runbook_url` is this, a slash, and the alert's name with `.md`. Default: the repository. */
  readonly runbookUrl?: string;
}

/** The runbooks of the repository. */
export const RUNBOOK_URL = 'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks';

/** The checked options and what follows from them. */
export interface Resolved {
  readonly settings: RuleSettings;
  readonly selector: string;
  readonly grafanaUrl: string | undefined;
  readonly consoleUrl: string | undefined;
  readonly runbookUrl: string;
  readonly levels: readonly Level[];
}

/** @throws RuleOptionsError if the options are wrong. */
export const resolved = ({
  settings,
  selector = '',
  grafanaUrl,
  consoleUrl,
  runbookUrl = RUNBOOK_URL,
  levels,
}: RuleOptions): Resolved => ({
  settings: checkSettings(settings),
  selector: checkedSelector(selector),
  grafanaUrl:
    grafanaUrl === undefined ? undefined : checkedUrl(grafanaUrl, 'grafanaUrl', 'https://grafana.example.com'),
  consoleUrl:
    consoleUrl === undefined ? undefined : checkedUrl(consoleUrl, 'consoleUrl', 'https://console.example.com'),
  runbookUrl: checkedUrl(runbookUrl, 'runbookUrl', RUNBOOK_URL),
  levels: checkedLevels(levels),
});

/** Recorded series by name, for Prometheus. */
const BY_NAME: Reader = {
  now: (key) => RECORDED[key],
  over: (key, range) => `${RECORDED[key]}[${range}]`,
};

/** What expressions are made from. `read` decides how they read recorded series. */
export const groundOf = ({ settings, selector }: Resolved, read: Reader = BY_NAME): Ground => ({
  recorded: read === BY_NAME,
  settings,
  series: seriesWith(selector),
  read,
});

/** Every alert, in the order of the lists. Two rules may share a name and differ by `scope`. */
export const ALERT_DEFINITIONS: readonly AlertDefinition[] = [
  ...TOOL_ALERTS,
  ...AGENT_ALERTS,
  ...MODEL_ALERTS,
  ...SPEND_ALERTS,
  ...CORRELATED_ALERTS,
];

/** Those that have a rule with these settings. */
export const alertsWith = (settings: RuleSettings): readonly AlertDefinition[] =>
  ALERT_DEFINITIONS.filter((one) => one.isOn?.(settings) ?? true);

/** The texts of an alert. */
export interface Annotations {
  readonly summary: string;
  readonly description: string;
  readonly runbook_url: string;
  readonly dashboard_url: string;
  readonly console_url?: string;
  /** When the trouble began, such as `Nov 27 18:16 UTC`. Empty or missing: not known, but not after the alert fired. */
  readonly began?: string;
}

/** The texts of an alert, in the dialect of the sender. */
export const annotationsOf = (alert: AlertDefinition, options: Resolved, dialect: Dialect): Annotations => {
  const andSelector = options.selector === '' ? '' : `, ${inTemplate(options.selector)}`;
  const ground: TextGround = { settings: options.settings, dialect, andSelector };
  const consoleUrl = dialect.consoleUrl(alert.labels);
  const since = alert.began?.(ground);
  const began = since === undefined ? '' : dialect.time('', since, '');
  const times = since === undefined ? [] : [since, alertSince(alert)];
  const own = (text: string): string => textWithLevels(dialect.withFrom(text, times), options.levels);
  return {
    summary: own(alert.summary(ground)),
    description: own(alert.description(ground)),
    runbook_url: `${options.runbookUrl}/${alert.name}.md`,
    dashboard_url: own(dialect.dashboardUrl(alert.dashboard, alert.labels)),
    ...(consoleUrl !== undefined && { console_url: consoleUrl }),
    ...(began !== '' && { began: own(began) }),
  };
};

/** An alert, for lists. */
export interface AlertEntry {
  readonly name: string;
  readonly severity: Severity;
  /** When it fires, with the default thresholds. */
  readonly says: string;
  /** The dashboard that it links to, by uid. */
  readonly dashboard: DashboardUid;
  /** The labels that distinguish its instances. For an alert with two scopes, the labels of both. */
  readonly labels: readonly AlertLabel[];
}

/** Every alert once, by name. */
export const ALERTS: readonly AlertEntry[] = [...new Set(ALERT_DEFINITIONS.map(({ name }) => name))].map((name) => {
  const rules = ALERT_DEFINITIONS.filter((one) => one.name === name);
  const [first] = rules;
  if (first === undefined) throw new Error(`alerts: ${name} has no rule; ALERTS must be made of ALERT_DEFINITIONS.`);
  return {
    name,
    severity: first.severity,
    says: first.says(DEFAULT_SETTINGS),
    dashboard: first.dashboard,
    labels: [...new Set(rules.flatMap(({ labels }) => labels))],
  };
});
