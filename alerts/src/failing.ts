import { type Dialect, type OfAll, ofAll, type TextQuery } from './dialect.ts';
import { inWords } from './duration.ts';
import {
  AGENT,
  ATTR,
  BY_AGENT,
  BY_TOOL,
  ERROR,
  LIMIT,
  label,
  METRIC,
  ONLY_TOOLS,
  PRIMARY,
  SUSPECT,
  TOOL,
} from './promql.ts';
import { WINDOW } from './settings.ts';

/*
 * What the texts of alerts say of the failures behind them. Templates query raw series: `increase()` ignores the first value of a series, and
 * the first failures of a category are often all of it.
 */

const OF_AGENT = `job=%q, ${AGENT}=%q`;
const AGENT_LABELS = ['job', 'agent'] as const;
const TOOL_LABELS = ['job', 'agent', 'tool'] as const;

/** A query whose result an alert of Grafana finds among those of all. */
interface Found extends TextQuery {
  readonly ofAll: OfAll;
}

/**
 * How much a counter has grown since shortly before the trouble began, with series that are new: a session that is paused fails no more, and
 * the text must still name what failed. Processes that ended in the last minutes count. Before that time, the last value in an hour counts, so
 * that a gap in the scrapes does not make old failures new ones. For all alerts, it is the growth of half an hour.
 */
const grewBy = (by: string, counter: string, of: typeof AGENT_LABELS | typeof TOOL_LABELS): Found => {
  // Of a process that ended since, such as before a restart, what it had counted half an hour after that time.
  const now = `(last_over_time(${counter}[${WINDOW.quarter}]) or last_over_time(${counter}[${WINDOW.half}] @ %.0f offset -${WINDOW.half}))`;
  const nowArgs = [...of, ...of, 'from'] as const;
  const all = ofAll(counter);
  const last = `last_over_time(${all}[${WINDOW.half}])`;
  const own = of === AGENT_LABELS ? BY_AGENT : BY_TOOL;
  return {
    ofAll: {
      by: own,
      query: `sum by (${own}, ${by}) (${last} - last_over_time(${all}[${WINDOW.hour}] offset ${WINDOW.half}) >= 0 or ${last}) > 0`,
    },
    query: `sum by (${by}) (${now} - last_over_time(${counter}[${WINDOW.hour}] @ %.0f) >= 0 or ${now}) > 0`,
    args: [...nowArgs, ...of, 'from', ...nowArgs],
  };
};

const failures = (of: string, andSelector: string): string =>
  `${METRIC.errors.prometheus}{${of}, ${label(ATTR.outcome)}="failure"${andSelector}}`;

/** Names in a title. A phone shows little more. */
export const MOST_IN_TITLE = 3;

const failuresOfTools = (andSelector: string): Found =>
  grewBy(`${TOOL}, ${ERROR}`, failures(`${OF_AGENT}, ${ONLY_TOOLS}`, andSelector), AGENT_LABELS);

/** The tools of the agent that failed, those with the most failures first: `a (network), b (server)`. */
const failed = (andSelector: string) => {
  const { query, ...found } = failuresOfTools(andSelector);
  return { ...found, query: `sort_desc(${query})`, list: 'tool', detail: 'error', isSorted: true } as const;
};

/** ` Tools that failed: a (network), b (server).` */
export const failingTools = (dialect: Dialect, andSelector: string, since = ''): string =>
  dialect.query({ ...failed(andSelector), before: ` Tools that failed${since}: `, after: '.' });

/** The same with the time since when failures count: a session may have used up its budget over hours. */
export const failingToolsSince = (dialect: Dialect, andSelector: string): string =>
  failingTools(dialect, andSelector, ` ${dialect.sinceFrom(inWords(WINDOW.half))}`);

/** The same for a title: `: a (network), b (server)`. */
export const failingInTitle = (dialect: Dialect, andSelector: string): string =>
  dialect.query({ ...failed(andSelector), before: ': ', most: MOST_IN_TITLE, after: '' });

const mostOf = ({ query, args, ofAll: all }: Found): Found => ({
  query: `topk(1, ${query})`,
  args,
  ofAll: { ...all, isOne: true },
});

/** The category with which a tool failed most: ` (network)`. */
export const failingWith = (dialect: Dialect, andSelector: string): string =>
  dialect.query({
    ...mostOf(grewBy(ERROR, failures(`${OF_AGENT}, ${TOOL}=%q`, andSelector), TOOL_LABELS)),
    before: ' (',
    list: 'error',
    after: ')',
  });

/** The model that has answered most instead of the first one of a list: `model:openai/gpt-5`. */
export const otherModel = (dialect: Dialect, andSelector: string): string => {
  const of = `${OF_AGENT}, ${PRIMARY}=%q, ${label(ATTR.position)}="fallback"${andSelector}`;
  const { query, args } = mostOf(grewBy(TOOL, `${METRIC.modelAnswers.prometheus}{${of}}`, TOOL_LABELS));
  return dialect.query({
    ...{ query, args },
    before: '',
    list: 'tool',
    after: '',
    otherwise: 'another model',
  });
};

/** The limits that runs of the agent reached: ` (calls, tokens)`. */
export const limitsReached = (dialect: Dialect, andSelector: string): string => {
  const reached = `${METRIC.limits.prometheus}{${OF_AGENT}, ${label(ATTR.limitLevel)}="reached"${andSelector}}`;
  return dialect.query({ ...grewBy(LIMIT, reached, AGENT_LABELS), before: ' (', list: 'limit', after: ')' });
};

/** Failures that blame a key, by category. */
export const failuresOfKeys = (andSelector: string): Found =>
  grewBy(
    ERROR,
    `${METRIC.errors.prometheus}{${OF_AGENT}, ${TOOL}=%q, ${label(ATTR.blames)}="key"${andSelector}}`,
    TOOL_LABELS,
  );

const events = (andSelector: string, by = ERROR, matchers = ''): Found =>
  grewBy(by, `${METRIC.systemicEvents.prometheus}{${OF_AGENT}${matchers}${andSelector}}`, AGENT_LABELS);

/** The categories of the systemic events: ` (network)`. Failures of several categories have none in common, and then it is `_MIXED`. */
export const categoryOfEvents = (dialect: Dialect, andSelector: string): string =>
  dialect.query({
    ...events(andSelector, ERROR, `, ${ERROR}!~"_.*"`),
    before: ' (',
    list: 'error',
    after: ')',
  });

/** What the agent suspects behind those events: ` Suspected: dependency proxy.` */
export const suspectOfEvents = (dialect: Dialect, andSelector: string): string =>
  dialect.query({
    ...events(andSelector, SUSPECT, `, ${SUSPECT}!~"|unknown"`),
    before: ' Suspected: ',
    list: 'suspect',
    after: '.',
  });

/**
 * The tools of the events, those with the most failures first. Of an agent that does not tell them, the tools that failed with the category of an
 * event, or all that failed.
 */
export const toolsOfEvents = (dialect: Dialect, andSelector: string): string => {
  const all = failuresOfTools(andSelector);
  const event = events(andSelector);
  const of = `${METRIC.systemicTools.prometheus}{${OF_AGENT}, ${ONLY_TOOLS}${andSelector}}`;
  const own = grewBy(TOOL, of, AGENT_LABELS);
  const both = `${all.ofAll.query} and on (${BY_AGENT}, ${ERROR}) ${event.ofAll.query}`;
  return dialect.query({
    before: '',
    ofAll: {
      by: BY_AGENT,
      query: `sum by (${BY_TOOL}) (${own.ofAll.query} or (${both} or ${all.ofAll.query} unless on (${BY_AGENT}) (${both})) unless on (${BY_AGENT}) (${own.ofAll.query}))`,
    },
    query: `sort_desc(sum by (${TOOL}) ((${all.query} and on (${TOOL}) ${own.query}) or on (${TOOL}) ${own.query} or on () (${all.query} and on (${ERROR}) ${event.query}) or on () ${all.query}))`,
    args: [...all.args, ...own.args, ...own.args, ...all.args, ...event.args, ...all.args],
    list: 'tool',
    isSorted: true,
    most: MOST_IN_TITLE,
    after: '',
    otherwise: 'several tools',
  });
};
