import { checkedSelector, checkSettings, type RuleSettings } from '@breakerbox/alerts';
import { type DataSource, narrowed, withDataSource } from './adapt.ts';
import { type BuiltDashboard, builtDashboards } from './dashboards.ts';
import { type DashboardJson, rendered } from './finish.ts';

/** What makes the dashboards a team's own. */
export interface DashboardOptions {
  /**
   * PromQL matchers without braces, such as `job=~"agents-.+"`, put into every query of panels, variables and annotations as they
   * stand. Default: all jobs.
   */
  readonly selector?: string;
  /** Chosen beforehand; whoever looks can choose another. Default: whatever Grafana has as its default. */
  readonly dataSource?: DataSource;
  /** Thresholds of the rules, where a panel shows them. Default: DEFAULT_SETTINGS of `@breakerbox/alerts`. */
  readonly settings?: Partial<RuleSettings>;
}

/** A dashboard to put into Grafana. */
export interface DashboardFile extends BuiltDashboard {
  readonly title: string;
  /** The JSON as a file has it. */
  readonly text: string;
}

/**
 * All dashboards, for a team's own Grafana.
 * @throws RuleOptionsError (of `@breakerbox/alerts`) for settings or a selector that can't work
 * @example
 * ```ts
 * for (const { uid, text } of dashboards({ dataSource: { uid: 'prometheus-eu' } })) await writeFile(`${uid}.json`, text);
 * ```
 */
export const dashboards = ({
  selector = '',
  dataSource,
  settings,
}: DashboardOptions = {}): readonly DashboardFile[] => {
  const matchers = checkedSelector(selector);
  return builtDashboards(checkSettings(settings)).map(({ uid, json: built }) => {
    const chosen = dataSource === undefined ? built : withDataSource(built, dataSource);
    const json = matchers === '' ? chosen : narrowed(chosen, matchers);
    return { uid, title: titleOf(json), json, text: rendered(json) };
  });
};

const titleOf = ({ title }: DashboardJson): string => (typeof title === 'string' ? title : '');
