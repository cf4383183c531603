import { type Substitution, substitute } from '../dashboards/src/queries.ts';
import { scaleExpression } from '../packages/demo/src/scale-rules.ts';
import { INTERVAL_MS, SCALE, WAYS, type Way } from './walk.ts';

/** The variables that Grafana would put into the queries, in the time of the rules: the whole run, for one way. */
export const asked = (way: Way) => ({
  rateInterval: `${(4 * INTERVAL_MS) / SCALE.factor}ms`,
  range: '5h',
  variables: { job: WAYS[way] },
});

/** The query as Grafana would send it. Its own windows, such as an hour, are in the time of the run. */
export const inRun = (expr: string, substitution: Substitution): string =>
  scaleExpression(substitute(expr, substitution), SCALE);
