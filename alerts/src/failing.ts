import type { Dialect } from './dialect.ts';
import { AGENT, ATTR, ERROR, LIMIT, label, METRIC, ONLY_TOOLS, PRIMARY, SUSPECT, TOOL } from './promql.ts';
import { WINDOW } from './settings.ts';

/*
 * What the texts of alerts say of the failures behind them. Templates query raw series: `increase()` ignores the first value of a series, and
 * the first failures of a category are often all of it.
 */

const { quarter } = WINDOW;

/** How much a counter grew in the last 15 minutes, with series that are new. */
const grewBy = (by: string, counter: string): string =>
  `sum by (${by}) (${counter} - ${counter} offset ${quarter} >= 0 or ${counter}) > 0`;

const failures = (of: string, andSelector: string): string =>
  `${METRIC.errors.prometheus}{${of}, ${label(ATTR.outcome)}="failure"${andSelector}}`;

const OF_AGENT = `job=%q, ${AGENT}=%q`;

/** Names in a title. A phone shows little more. */
export const MOST_IN_TITLE = 3;

/** The tools of the agent that failed in the last 15 minutes, those with the most failures first: `a (network), b (server)`. */
const failed = (andSelector: string) =>
  ({
    query: `sort_desc(${grewBy(`${TOOL}, ${ERROR}`, failures(`${OF_AGENT}, ${ONLY_TOOLS}`, andSelector))})`,
    args: ['job', 'agent', 'job', 'agent', 'job', 'agent'],
    list: 'tool',
    detail: 'error',
    isSorted: true,
  }) as const;

/** ` Failed within the last 15 minutes: a (network), b (server).` */
export const failingTools = (dialect: Dialect, andSelector: string): string =>
  dialect.query({ ...failed(andSelector), before: ' Failed within the last 15 minutes: ', after: '.' });

/** The same for a title: `: a (network), b (server)`. */
export const failingInTitle = (dialect: Dialect, andSelector: string): string =>
  dialect.query({ ...failed(andSelector), before: ': ', most: MOST_IN_TITLE, after: '' });

/** The category with which a tool failed most in the last 15 minutes: ` (network)`. */
export const failingWith = (dialect: Dialect, andSelector: string): string => {
  const args = ['job', 'agent', 'tool'] as const;
  return dialect.query({
    before: ' (',
    query: `topk(1, ${grewBy(ERROR, failures(`${OF_AGENT}, ${TOOL}=%q`, andSelector))})`,
    args: [...args, ...args, ...args],
    list: 'error',
    after: ')',
  });
};

/** The model that has answered most instead of the first one of a list: `model:openai/gpt-5`. */
export const otherModel = (dialect: Dialect, andSelector: string): string => {
  const args = ['job', 'agent', 'tool'] as const;
  const of = `${OF_AGENT}, ${PRIMARY}=%q, ${label(ATTR.position)}="fallback"${andSelector}`;
  return dialect.query({
    before: '',
    query: `topk(1, ${grewBy(TOOL, `${METRIC.modelAnswers.prometheus}{${of}}`)})`,
    args: [...args, ...args, ...args],
    list: 'tool',
    after: '',
    otherwise: 'another model',
  });
};

/** The limits that runs of the agent reached in the last 15 minutes: ` (calls, tokens)`. */
export const limitsReached = (dialect: Dialect, andSelector: string): string => {
  const reached = `${METRIC.limits.prometheus}{${OF_AGENT}, ${label(ATTR.limitLevel)}="reached"${andSelector}}`;
  return dialect.query({
    before: ' (',
    query: grewBy(LIMIT, reached),
    args: ['job', 'agent', 'job', 'agent', 'job', 'agent'],
    list: 'limit',
    after: ')',
  });
};

/** Failures of the last 15 minutes that blame a key, by category. */
export const failuresOfKeys = (andSelector: string): string =>
  grewBy(ERROR, `${METRIC.errors.prometheus}{${OF_AGENT}, ${TOOL}=%q, ${label(ATTR.blames)}="key"${andSelector}}`);

const events = (andSelector: string, by = ERROR, matchers = ''): string =>
  grewBy(by, `${METRIC.systemicEvents.prometheus}{${OF_AGENT}${matchers}${andSelector}}`);

/** The categories of the systemic events that began in the last 15 minutes: ` (network)`. */
export const categoryOfEvents = (dialect: Dialect, andSelector: string): string =>
  dialect.query({
    before: ' (',
    query: events(andSelector),
    args: ['job', 'agent', 'job', 'agent', 'job', 'agent'],
    list: 'error',
    after: ')',
  });

/** What the agent suspects behind those events: ` Suspected: dependency proxy.` */
export const suspectOfEvents = (dialect: Dialect, andSelector: string): string =>
  dialect.query({
    before: ' Suspected: ',
    query: events(andSelector, SUSPECT, `, ${SUSPECT}!~"|unknown"`),
    args: ['job', 'agent', 'job', 'agent', 'job', 'agent'],
    list: 'suspect',
    after: '.',
  });

/**
 * The tools that failed with the category of an event. Events of several categories have no common one: then all tools that failed.
 */
export const toolsOfEvents = (dialect: Dialect, andSelector: string): string => {
  const all = grewBy(`${TOOL}, ${ERROR}`, failures(`${OF_AGENT}, ${ONLY_TOOLS}`, andSelector));
  const args = ['job', 'agent', 'job', 'agent', 'job', 'agent'] as const;
  return dialect.query({
    before: '',
    query: `sort_desc(sum by (${TOOL}) ((${all} and on (${ERROR}) ${events(andSelector)}) or on () ${all}))`,
    args: [...args, ...args, ...args],
    list: 'tool',
    isSorted: true,
    most: MOST_IN_TITLE,
    after: '',
    otherwise: 'several tools',
  });
};
