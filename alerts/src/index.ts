export { type AlertmanagerParts, alertmanagerParts, RECEIVERS, runbooks } from './carried.ts';
export { checkSettings, type RuleIssue, RuleOptionsError } from './check-settings.ts';
export { seconds } from './duration.ts';
export { type GrafanaOptions, grafanaAlerting } from './grafana.ts';
export { type NamedText, ruleFiles } from './prometheus.ts';
export { ALERTS, type AlertEntry, RUNBOOK_URL, type RuleOptions } from './rules.ts';
export { checkedSelector } from './selector.ts';
export { type SettingDoc, settingDocs } from './setting-docs.ts';
export { DEFAULT_SETTINGS, type RuleSettings, WINDOW } from './settings.ts';
