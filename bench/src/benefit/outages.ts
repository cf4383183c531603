import type { ErrorCategory } from '@breakerbox/core';

/** A part of a run in which calls of some tools fail. */
export interface Outage {
  readonly tools: readonly string[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly category: ErrorCategory;
  /** How long a call takes until it fails. */
  readonly failsAfterMs: number;
}

/** What happens to the tools of a run. */
export interface Story {
  readonly id: string;
  readonly text: string;
  readonly outages: readonly Outage[];
  /** The story whose draws these runs have, so that rows can be compared. Default: its own. */
  readonly draws?: string;
  /** What the configuration says that tools depend on: the tools, by its name. Default: nothing. */
  readonly dependencies?: Readonly<Record<string, readonly string[]>>;
  /** Share of calls of healthy tools that fail by chance. */
  readonly chance: number;
  /** Share of calls that fail because of the model's own arguments. Trying the same again never helps, and the tool is healthy. */
  readonly mistakes: number;
}

const MINUTE = 60_000;
/** Tasks begin at once, and a run takes about a quarter of an hour when all is well. */
export const RUN_MS = 30 * MINUTE;

const down = (
  tools: readonly string[],
  from: number,
  to: number,
  category: ErrorCategory,
  failsAfterMs: number,
): Outage => ({
  ...{ tools, category, failsAfterMs },
  fromMs: from * MINUTE,
  toMs: to * MINUTE,
});

const BEHIND_PROXY = ['search', 'fetch', 'crm'];

const USUAL = { chance: 0.01, mistakes: 0.03 };

export const STORIES: readonly Story[] = [
  { id: 'healthy', text: "no outage: 1 % of calls fail by chance, 3 % by the model's mistake", outages: [], ...USUAL },
  {
    id: 'mistakes',
    text: 'no outage, and a model that makes many mistakes (25 % of calls)',
    outages: [],
    chance: 0.01,
    mistakes: 0.25,
  },
  {
    id: 'refused',
    text: 'one tool refuses connections for the whole run',
    outages: [down(['search'], 0, 60, 'network', 50)],
    ...USUAL,
  },
  {
    id: 'hangs',
    text: 'one tool hangs for the whole run: each call times out after 30 s',
    outages: [down(['search'], 0, 60, 'timeout', 30_000)],
    ...USUAL,
  },
  {
    id: 'recovers',
    text: 'one tool is down from minute 2 to minute 6',
    outages: [down(['search'], 2, 6, 'server', 200)],
    ...USUAL,
  },
  {
    id: 'shared',
    text: 'three tools lose the same proxy from minute 2 to minute 6, and the configuration does not say that they depend on it',
    outages: [down(BEHIND_PROXY, 2, 6, 'network', 50)],
    ...USUAL,
  },
  {
    id: 'declared',
    text: 'the same, and the configuration says that they depend on it (`dependsOn`)',
    outages: [down(BEHIND_PROXY, 2, 6, 'network', 50)],
    draws: 'shared',
    dependencies: { proxy: BEHIND_PROXY },
    ...USUAL,
  },
];
