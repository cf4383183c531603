import { RuleOptionsError } from './check-settings.ts';

/**
 * Labels of a target that tell installations apart, if one Prometheus scrapes several: agents of the same job and name in two
 * namespaces, or in two clusters, are different agents then.
 */
export const LEVELS = ['cluster', 'namespace'] as const;
export type Level = (typeof LEVELS)[number];

/**
 * The levels in the order of {@link LEVELS}.
 * @throws RuleOptionsError for another label
 * @example checkedLevels(['namespace']) // ['namespace']
 */
export const checkedLevels = (levels: readonly string[] = []): readonly Level[] => {
  const unknown = levels.filter((one) => !LEVELS.some((level) => level === one));
  if (unknown.length === 0) return LEVELS.filter((level) => levels.includes(level));
  const message = `has ${unknown.map((one) => JSON.stringify(one)).join(', ')}, which is no level. The levels are ${LEVELS.join(' and ')}.`;
  throw new RuleOptionsError([{ path: 'levels', message }]);
};

/** A clause that names agents or tools. Others add up all agents, and none may be left out of an agent's own. */
const CLAUSE = /\b(?<word>by|on) \((?=[^)]*\b(?:job|alertname|gen_ai_tool_name, error_type)\b)/g;

/** PromQL that keeps the levels wherever it keeps the job, or a tool with its error. */
export const withLevels = (expr: string, levels: readonly Level[]): string =>
  levels.length === 0 ? expr : expr.replaceAll(CLAUSE, (_, word: string) => `${word} (${levels.join(', ')}, `);

const QUERY = /printf `(?<query>[^`]*)`(?<args>[^|}]*)\| query/g;

/** The matcher of an alert's own series in its texts: an alert of all jobs has a tool. */
const OWN = { job: 'job', tool: 'gen_ai_tool_name' } as const;

/** A text of an alert: queries inside it ask for its own levels, and so does the link to a dashboard. */
export const textWithLevels = (text: string, levels: readonly Level[]): string => {
  if (levels.length === 0) return text;
  const matchers = levels.map((level) => `${level}=%q, `).join('');
  const args = levels.map((level) => ` $labels.${level}`).join('');
  const asked = text.replaceAll(QUERY, (_, query: string, given: string) => {
    const label = query.includes(`${OWN.job}=%q`) ? OWN.job : OWN.tool;
    const own = withLevels(query, levels).replaceAll(`${label}=%q`, `${matchers}${label}=%q`);
    return `printf \`${own}\`${given.replaceAll(` $labels.${label}`, `${args} $labels.${label}`)}| query`;
  });
  const named = asked.replaceAll(
    /\((job \{\{ \$labels\.job \}\}|all jobs)\)/g,
    (_, jobs: string) => `(${jobs}${levels.map((level) => `, ${level} {{ $labels.${level} }}`).join('')})`,
  );
  const search = levels.map((level) => `var-${level}={{ $labels.${level} | urlquery }}&`).join('');
  return named.replaceAll(/(\/d\/breakerbox-[\w-]+\?)/g, `$1${search}`);
};
