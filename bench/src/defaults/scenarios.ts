import type { ErrorCategory } from '@breakerbox/core';
import { FIVE_CATEGORIES, oneUnknown, sharedCategory, twoCategories, usualCategory } from './failures.ts';
import { shuffled } from './random.ts';
import { dead, type Scenario, STEPS_A_MINUTE, sound, USUAL_STEPS, type World } from './scenario.ts';

const FIVE = { web_search: {}, read_page: {}, query_db: {}, send_mail: {}, run_code: {} };
const NAMES = Object.keys(FIVE);
const [DEAD = '', OTHER = ''] = NAMES;

/** Three MCP servers of four tools each. The adapters set `group` to the server's name. */
const SERVERS = Object.fromEntries(
  ['files', 'tickets', 'search'].flatMap((group) =>
    [1, 2, 3, 4].map((number) => [`${group}_${number}`, { group }] as const),
  ),
);

const FIVE_TOOLS = { tools: FIVE, steps: USUAL_STEPS, stray: 0 } as const;

/** Each of the tools has its own category. */
const together = (tools: readonly string[], categories: readonly ErrorCategory[]) =>
  Object.fromEntries(tools.map((tool, index) => [tool, categories[index] ?? 'unknown']));

/** Works and fails in turns of ten steps, and starts at a random step of the cycle. */
const FLAPPING_STEPS = 10;
const flapping = (category: ErrorCategory, offset: number): World => ({
  wanted: { [DEAD]: 0.5 },
  outage: (tool, step) =>
    tool === DEAD && Math.floor((step + offset) / FLAPPING_STEPS) % 2 === 0 ? category : undefined,
});

/** The tools that start slowly fail until their own start, and then work. */
const starting = (starts: Readonly<Record<string, number>>): World => ({
  outage: (tool, step) => (step <= (starts[tool] ?? 0) ? 'timeout' : undefined),
});

/** Every row of the table, in order. */
export const SCENARIOS: readonly Scenario[] = [
  {
    ...FIVE_TOOLS,
    id: 'dead-20',
    title: 'one dead tool of five, wanted in 20 % of the steps',
    world: (random) => dead({ [DEAD]: usualCategory(random) }),
  },
  {
    ...FIVE_TOOLS,
    id: 'dead-50',
    title: 'the same, wanted in 50 %',
    world: (random) => dead({ [DEAD]: usualCategory(random) }, { [DEAD]: 0.5 }),
  },
  {
    ...FIVE_TOOLS,
    id: 'dead-stray',
    title: 'the same, and 1 % of the other calls fail',
    stray: 0.01,
    world: (random) => dead({ [DEAD]: usualCategory(random) }, { [DEAD]: 0.5 }),
  },
  {
    ...FIVE_TOOLS,
    id: 'flapping',
    title: 'one tool of five works and fails in turns of 10 steps, wanted in 50 %',
    world: (random) => flapping(usualCategory(random), Math.floor(random() * 2 * FLAPPING_STEPS)),
  },
  {
    ...FIVE_TOOLS,
    id: 'two-dead',
    title: 'two dead tools of five, with different categories',
    world: (random) => dead(together([DEAD, OTHER], twoCategories(random))),
  },
  {
    ...FIVE_TOOLS,
    id: 'two-dead-unknown',
    title: 'two dead tools of five, and the classifier cannot place one of them (`unknown`)',
    world: (random) => dead(together([DEAD, OTHER], oneUnknown(random))),
  },
  {
    id: 'half-server',
    title: 'two of four tools of one MCP server of three are dead (network)',
    tools: SERVERS,
    steps: USUAL_STEPS,
    stray: 0,
    world: () => dead({ files_1: 'network', files_2: 'network' }),
  },
  {
    ...FIVE_TOOLS,
    id: 'stray-200',
    title: '2 % of the calls fail, 200 steps',
    steps: 200,
    stray: 0.02,
    world: () => sound,
  },
  {
    ...FIVE_TOOLS,
    id: 'stray-500',
    title: '1 % of the calls fail, 500 steps',
    steps: 500,
    stray: 0.01,
    world: () => sound,
  },
  {
    ...FIVE_TOOLS,
    id: 'slow-start-two',
    title: 'slow start: two of five tools time out in the first minute (12 steps)',
    world: () => starting({ [DEAD]: STEPS_A_MINUTE, [OTHER]: STEPS_A_MINUTE }),
  },
  {
    ...FIVE_TOOLS,
    id: 'slow-start-all',
    title: 'slow start: every tool times out in the first 4 steps',
    world: () => starting(Object.fromEntries(NAMES.map((tool) => [tool, 4]))),
  },
  {
    ...FIVE_TOOLS,
    id: 'all-dead',
    title: 'every tool dead, one category',
    world: (random) => {
      const category = sharedCategory(random);
      return dead(
        together(
          NAMES,
          NAMES.map(() => category),
        ),
      );
    },
  },
  {
    ...FIVE_TOOLS,
    id: 'all-dead-mixed',
    title: 'every tool dead, each with a category of its own',
    world: (random) => dead(together(NAMES, shuffled(random, FIVE_CATEGORIES))),
  },
  {
    ...FIVE_TOOLS,
    id: 'all-25',
    title: 'every tool fails 25 % of its calls',
    stray: 0.25,
    world: () => sound,
  },
];

/** The row of that id. */
export const scenarioOf = (id: string): Scenario => {
  const found = SCENARIOS.find((one) => one.id === id);
  if (found === undefined) throw new Error(`No scenario is called ${id}.`);
  return found;
};
