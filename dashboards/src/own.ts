import {
  checkedLevels,
  checkedSelector,
  checkedUrl,
  checkSettings,
  type Level,
  RUNBOOK_URL,
  type RuleSettings,
} from '@breakerbox/alerts';
import { atLevels, narrowed, withConsole, withDataSource, withRunbooks } from './adapt.ts';
import { type BuiltDashboard, builtDashboards } from './dashboards.ts';
import { type DashboardJson, rendered } from './finish.ts';
import type { DataSource } from './variables.ts';

/** Options that adapt the dashboards to your installation. */
export interface DashboardOptions {
  /**
   * PromQL matchers without braces, such as `job=~"agents-.+"`, added unchanged to every query of panels, variables and
   * annotations. Default: all jobs.
   */
  readonly selector?: string;
  /** The data source that is selected first. Users can select another one. Default: Grafana's default. */
  readonly dataSource?: DataSource;
  /**
   * A Loki that receives the agents' logs by OTLP. Then all dashboards but the overview have a panel of the log records. Users can select
   * another one. Default: no such panel.
   */
  readonly logs?: DataSource;
  /**
   * Address of the operators' console (`breakerbox console`), such as `https://console.example.com`. Lines and rows of an agent link to it.
   * Default: no links.
   */
  readonly consoleUrl?: string;
  /** Labels of your targets that tell installations apart, as in the rules: each has a variable then. Default: none. */
  readonly levels?: readonly Level[];
  /** Address of the runbooks that the table of alerts links to, as in the rules. Default: the repository. */
  readonly runbookUrl?: string;
  /** Thresholds of the rules, for panels that show them. Default: DEFAULT_SETTINGS of `@breakerbox/alerts`. */
  readonly settings?: Partial<RuleSettings>;
}

/** A dashboard to import into Grafana. */
export interface DashboardFile extends BuiltDashboard {
  readonly title: string;
  /** The JSON as text for a file. */
  readonly text: string;
}

/**
 * All dashboards, for your own Grafana.
 * @throws RuleOptionsError (of `@breakerbox/alerts`) if the settings, the selector or the URL are wrong
 * @example
 * ```ts
 * for (const { uid, text } of dashboards({ dataSource: { uid: 'prometheus-eu' } })) await writeFile(`${uid}.json`, text);
 * ```
 */
export const dashboards = ({
  selector = '',
  dataSource,
  logs,
  consoleUrl,
  runbookUrl = RUNBOOK_URL,
  levels,
  settings,
}: DashboardOptions = {}): readonly DashboardFile[] => {
  const matchers = checkedSelector(selector);
  const linked =
    consoleUrl === undefined ? undefined : checkedUrl(consoleUrl, 'consoleUrl', 'https://console.example.com');
  const apart = checkedLevels(levels);
  const runbooks = checkedUrl(runbookUrl, 'runbookUrl', RUNBOOK_URL);
  return builtDashboards(checkSettings(settings), logs).map(({ uid, json }) => {
    const built = withRunbooks(json, runbooks);
    const chosen = dataSource === undefined ? built : withDataSource(built, dataSource);
    const narrow = matchers === '' ? chosen : narrowed(chosen, matchers);
    const leveled = apart.length === 0 ? narrow : atLevels(narrow, apart);
    const own = linked === undefined ? leveled : withConsole(leveled, linked);
    return { uid, title: titleOf(own), json: own, text: rendered(own) };
  });
};

const titleOf = ({ title }: DashboardJson): string => (typeof title === 'string' ? title : '');
