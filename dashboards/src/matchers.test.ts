import {
  AVAILABILITIES,
  CIRCUIT_MODES,
  DEFAULT_JUDGEMENT,
  type Degradation,
  type FreshnessKind,
  REASONS,
  type ReportedState,
  type Route,
  type SessionState,
} from '@breakerbox/core';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, it } from 'vitest';
import { builtDashboards } from './dashboards.ts';
import { ATTR, type Disposition, label, METRIC } from './names.ts';
import { series } from './promql.ts';
import { dashboardQueries } from './queries.ts';

const queries = builtDashboards().flatMap(({ json }) => dashboardQueries(json));

// Core has these only as types. The compiler checks that no list has one too many or too few.
const STATES = Object.keys({
  closed: true,
  open: true,
  half_open: true,
  forced_open: true,
  disabled: true,
  observe_only: true,
} satisfies Record<ReportedState, true>);
const SESSION_STATES = Object.keys({
  active: true,
  paused_budget: true,
  paused_systemic: true,
  paused_limit: true,
} satisfies Record<SessionState, true>);
const ROUTES = Object.keys({
  alternative: true,
  manual: true,
  stale: true,
  defer: true,
} satisfies Record<Route['kind'], true>);
const DEGRADATIONS = Object.keys({ low: true, high: true, unknown: true } satisfies Record<Degradation, true>);
const DISPOSITIONS = Object.keys({ achievable: true, deferred: true } satisfies Record<Disposition, true>);
const LABELS = Object.keys({
  stale: true,
  cached: true,
  unverified: true,
  freshness_unknown: true,
} satisfies Record<FreshnessKind, true>);

/** Every label with a fixed set of values, and the values that core can emit. */
const EMITTED: Readonly<Record<string, readonly string[]>> = {
  [label(ATTR.decision)]: Object.values(REASONS),
  [label(ATTR.reason)]: Object.keys(REASONS),
  [label(ATTR.outcome)]: ['success', ...Object.values(DEFAULT_JUDGEMENT)],
  [label(ATTR.state)]: STATES,
  [label(ATTR.stateFrom)]: STATES,
  [label(ATTR.stateTo)]: STATES,
  [label(ATTR.sessionState)]: SESSION_STATES,
  [label(ATTR.errorType)]: [...Object.keys(DEFAULT_JUDGEMENT), '_MIXED'],
  [label(ATTR.route)]: ROUTES,
  [label(ATTR.degradation)]: DEGRADATIONS,
  [label(ATTR.disposition)]: DISPOSITIONS,
  [label(ATTR.freshnessLabel)]: LABELS,
  [label(ATTR.availability)]: AVAILABILITIES,
  [label(ATTR.blames)]: ['', 'key'],
  [label(ATTR.position)]: ['primary', 'fallback'],
  [label(ATTR.limitLevel)]: ['advised', 'reached', 'observed'],
};

interface Matcher {
  readonly name: string;
  readonly values: readonly string[];
}

/** The matchers of a query. For regular expressions, their alternatives. */
const matchersIn = (expr: string): readonly Matcher[] => {
  const found: Matcher[] = [];
  parser.parse(expr).iterate({
    enter: ({ type, node }) => {
      if (type.name !== 'UnquotedLabelMatcher' && type.name !== 'QuotedLabelMatcher') return;
      const text = (child: string): string => {
        const at = node.getChild(child);
        return at === null ? '' : expr.slice(at.from, at.to);
      };
      const value = text('StringLiteral').slice(1, -1);
      found.push({
        name: text('LabelName') || text('QuotedLabelName').slice(1, -1),
        values: text('MatchOp').endsWith('~') ? value.split('|') : [value],
      });
    },
  });
  return found;
};

/** Values that a query selects and that no series can have. */
const neverEmitted = (expr: string): readonly string[] =>
  matchersIn(expr).flatMap(({ name, values }) =>
    values.filter((value) => EMITTED[name]?.includes(value) === false).map((value) => `${name}=${value}`),
  );

describe('the matchers of the dashboards', () => {
  it.each(queries.map(({ dashboard, panel, refId, expr }) => [`${dashboard}: ${panel} ${refId}`, expr] as const))(
    '%s only selects values that core can emit',
    (_, expr) => {
      expect(neverEmitted(expr)).toEqual([]);
    },
  );

  it('are all found by the parser, so that the check above never checks nothing', () => {
    const found = queries.flatMap(({ expr }) => matchersIn(expr)).filter(({ name }) => EMITTED[name] !== undefined);
    const written = queries.flatMap(({ expr }) => expr.match(/\b(breakerbox_[a-z_]+|error_type)(=~?|!=|!~)"/g) ?? []);
    expect(found).toHaveLength(written.length);
    expect(new Set(found.map(({ name }) => name))).toEqual(
      new Set(
        [
          ATTR.decision,
          ATTR.outcome,
          ATTR.errorType,
          ATTR.state,
          ATTR.stateFrom,
          ATTR.stateTo,
          ATTR.sessionState,
          ATTR.route,
          ATTR.disposition,
          ATTR.blames,
          ATTR.limitLevel,
          ATTR.position,
        ].map(label),
      ),
    );
  });

  it('fail with a value that core never emits: alone, among others, negated', () => {
    expect(neverEmitted('sum(a{breakerbox_decision=~"skip|paused", gen_ai_tool_name="skipped"})')).toEqual([
      'breakerbox_decision=paused',
    ]);
    expect(neverEmitted('a{breakerbox_state="half-open"} + b{breakerbox_state_to!="opened"}')).toEqual([
      'breakerbox_state=half-open',
      'breakerbox_state_to=opened',
    ]);
    expect(neverEmitted('a{breakerbox_session_state!~"paused", breakerbox_outcome="failed"}')).toEqual([
      'breakerbox_session_state=paused',
      'breakerbox_outcome=failed',
    ]);
    expect(neverEmitted('a{breakerbox_reason="why", error_type="oops"}')).toHaveLength(2);
    expect(neverEmitted('a{breakerbox_reason=~"no_circuit|not_allowed|unavailable|repeat|closed"}')).toEqual([]);
    expect(neverEmitted('a{breakerbox_route="deferred", breakerbox_degradation!="medium"}')).toHaveLength(2);
    expect(
      neverEmitted(
        'a{breakerbox_disposition="defer", breakerbox_freshness_label="old", breakerbox_availability="down"}',
      ),
    ).toHaveLength(3);
  });

  it('include the modes in the states, as core does', () => {
    expect(STATES).toEqual(expect.arrayContaining(CIRCUIT_MODES.filter((mode) => mode !== 'automatic')));
  });
});

describe('a matcher in the source', () => {
  it('compiles only with values that core can emit', () => {
    // Each comment would be a compiler error if the line below it compiled.
    // @ts-expect-error: the decision is `skip`.
    series(METRIC.decisions, { [ATTR.decision]: ['skipped'] });
    // @ts-expect-error: the reason is `open`.
    series(METRIC.decisions, { [ATTR.reason]: ['opened'] });
    // @ts-expect-error: the outcome is `failure`.
    series(METRIC.outcomes, { [ATTR.outcome]: ['failed'] });
    // @ts-expect-error: the state is `half_open`.
    series(METRIC.circuits, { [ATTR.state]: ['half-open'] });
    // @ts-expect-error: the state is `open`.
    series(METRIC.transitions, { [ATTR.stateTo]: ['opened'] });
    // @ts-expect-error: there is `paused_budget`, and `paused_systemic`.
    series(METRIC.sessions, { [ATTR.sessionState]: ['paused'] });
    // @ts-expect-error: the category is `rate_limit`.
    series(METRIC.errors, { [ATTR.errorType]: ['rate-limit'] });
    // @ts-expect-error: the reason is `not_allowed`.
    series(METRIC.decisions, { [ATTR.reason]: ['denied'] });
    // @ts-expect-error: the route is `defer`; `deferred` is a task.
    series(METRIC.routes, { [ATTR.route]: ['deferred'] });
    // @ts-expect-error: the degradation is `low`, `high` or `unknown`.
    series(METRIC.routes, { [ATTR.degradation]: ['none'] });
    // @ts-expect-error: the disposition is `deferred`.
    series(METRIC.tasks, { [ATTR.disposition]: ['defer'] });
    // @ts-expect-error: the label is `freshness_unknown`.
    series(METRIC.freshness, { [ATTR.freshnessLabel]: ['unknown'] });
    // @ts-expect-error: the availability is `unavailable`.
    series(METRIC.prechecks, { [ATTR.availability]: ['down'] });
    // @ts-expect-error: agents are selected by the dashboard's variable.
    series(METRIC.sessions, { [ATTR.agent]: ['one'] });
    expect(series(METRIC.decisions, { [ATTR.decision]: ['skip', 'pause'] })).toContain(
      'breakerbox_decision=~"skip|pause"',
    );
  });
});
