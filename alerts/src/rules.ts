import { AGENT_ALERTS } from './agent-alerts.ts';
import type { AlertDefinition, Severity, TextGround } from './alert.ts';
import { checkSettings, RuleOptionsError } from './check-settings.ts';
import { CORRELATED_ALERTS } from './correlated-alerts.ts';
import type { AlertLabel, DashboardUid, Dialect } from './dialect.ts';
import { seriesWith } from './promql.ts';
import { type Ground, RECORDED, type Reader } from './record.ts';
import { checkedSelector, inTemplate } from './selector.ts';
import { DEFAULT_SETTINGS, type RuleSettings } from './settings.ts';
import { TOOL_ALERTS } from './tool-alerts.ts';

/** What rules are made of, for a team of its own. Everything has a default. */
export interface RuleOptions {
  /** Thresholds that differ from {@link DEFAULT_SETTINGS}. */
  readonly settings?: Partial<RuleSettings>;
  /** PromQL matchers that each query is narrowed by, such as `job=~"agents-.+"`. Default: none. */
  readonly selector?: string;
  /**
   * Where Grafana is, such as `https://grafana.example.com`: `dashboard_url` begins with it. Default: for Prometheus its
   * external label `grafana_url`, for Grafana its own address.
   */
  readonly grafanaUrl?: string;
  /** Where the runbooks are: `runbook_url` is this, a slash, and the alert's name with `.md`. Default: the repository. */
  readonly runbookUrl?: string;
}

/** The runbooks of the repository. */
export const RUNBOOK_URL = 'https://github.com/breakerbox/breakerbox/blob/main/alerts/runbooks';

/** The options, checked, and what follows from them. */
export interface Resolved {
  readonly settings: RuleSettings;
  readonly selector: string;
  readonly grafanaUrl: string | undefined;
  readonly runbookUrl: string;
}

const checkedUrl = (text: string, path: string, like: string): string => {
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  const usable = parsed !== undefined && /^https?:$/.test(parsed.protocol) && !/[{}"`\s]/.test(text);
  if (usable) return text.replace(/\/+$/, '');
  throw new RuleOptionsError([
    {
      path,
      message: `is ${JSON.stringify(text)}, and a link that begins so leads nowhere. Write an address with http or https, such as ${like}.`,
    },
  ]);
};

/** @throws RuleOptionsError where rules can't be made of them. */
export const resolved = ({ settings, selector = '', grafanaUrl, runbookUrl = RUNBOOK_URL }: RuleOptions): Resolved => ({
  settings: checkSettings(settings),
  selector: checkedSelector(selector),
  grafanaUrl:
    grafanaUrl === undefined ? undefined : checkedUrl(grafanaUrl, 'grafanaUrl', 'https://grafana.example.com'),
  runbookUrl: checkedUrl(runbookUrl, 'runbookUrl', RUNBOOK_URL),
});

/** Recorded series by their names: there is a ruler. */
const BY_NAME: Reader = {
  now: (key) => RECORDED[key],
  over: (key, range) => `${RECORDED[key]}[${range}]`,
};

/** What expressions are written with; `read` says how they come by what is recorded. */
export const groundOf = ({ settings, selector }: Resolved, read: Reader = BY_NAME): Ground => ({
  recorded: read === BY_NAME,
  settings,
  series: seriesWith(selector),
  read,
});

/** Every alert, in the order in which they are listed. Two of them may have one name, and differ by `scope`. */
export const ALERT_DEFINITIONS: readonly AlertDefinition[] = [...TOOL_ALERTS, ...AGENT_ALERTS, ...CORRELATED_ALERTS];

/** The texts of an alert. */
export interface Annotations {
  readonly summary: string;
  readonly description: string;
  readonly runbook_url: string;
  readonly dashboard_url: string;
}

/** The texts of an alert, in the dialect of who sends it. */
export const annotationsOf = (alert: AlertDefinition, options: Resolved, dialect: Dialect): Annotations => {
  const andSelector = options.selector === '' ? '' : `, ${inTemplate(options.selector)}`;
  const ground: TextGround = { settings: options.settings, dialect, andSelector };
  return {
    summary: alert.summary(ground),
    description: alert.description(ground),
    runbook_url: `${options.runbookUrl}/${alert.name}.md`,
    dashboard_url: dialect.dashboardUrl(alert.dashboard, alert.labels),
  };
};

/** An alert, for lists of them. */
export interface AlertEntry {
  readonly name: string;
  readonly severity: Severity;
  /** When it fires, by the default thresholds. */
  readonly says: string;
  /** The dashboard that it leads to, by uid. */
  readonly dashboard: DashboardUid;
  /** The labels that its instances differ by. Of two scopes, those of both. */
  readonly labels: readonly AlertLabel[];
}

/** Every alert by its name, once. */
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
