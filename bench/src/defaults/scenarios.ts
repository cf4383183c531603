import type { ErrorCategory, ToolConfig } from '@breakerbox/core';
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

const EIGHT_TOOLS = {
  tools: { ...FIVE, plan_route: {}, read_mail: {}, list_files: {} },
  steps: USUAL_STEPS,
  stray: 0,
} as const;

/** Categories that two tools may share by chance. */
const CATEGORIES: readonly ErrorCategory[] = [
  'network',
  'timeout',
  'server',
  'rate_limit',
  'permission',
  'filesystem',
  'resource',
];

const twoAlike = (category: ErrorCategory): World => dead({ [DEAD]: category, [OTHER]: category });

/** The server behind three of the tools is dead. `shared` is what the configuration says of each of them. */
const behindServer = (id: string, title: string, shared: ToolConfig): Scenario => {
  const behind = NAMES.slice(0, 3);
  return {
    ...FIVE_TOOLS,
    id,
    title,
    tools: { ...FIVE, ...Object.fromEntries(behind.map((tool) => [tool, shared])) },
    world: () => dead(together(behind, ['server', 'server', 'server'])),
  };
};

/** A chat of 500 turns that never calls `step()`. */
const withoutSteps = (stray: number, calls: number): Scenario => ({
  ...FIVE_TOOLS,
  id: `stepless-${stray * 100}-${calls}`,
  title: `${stray * 100} % of the calls fail, 500 turns without \`step()\`, ${calls} ${calls === 1 ? 'call' : 'calls'} a turn`,
  steps: 500,
  stray,
  calls,
  stepless: true,
  share: 0.1,
  ...(stray < 0.02 && { hidden: true }),
  world: () => sound,
});

const FIVE_TOOLS = { tools: FIVE, steps: USUAL_STEPS, stray: 0 } as const;

/** Each of the tools has its own category. */
const together = (tools: readonly string[], categories: readonly ErrorCategory[]) =>
  Object.fromEntries(tools.map((tool, index) => [tool, categories[index] ?? 'unknown']));

/** One dead tool, which the agent wants again and again. In the steps between, it wants the others. */
const wantedEvery = (every: number, steps: number): Scenario => ({
  ...FIVE_TOOLS,
  id: `every-${every}-${steps}`,
  title: `one dead tool of five (network), wanted in every ${ORDINALS[every] ?? ''}step of ${steps}`,
  steps,
  world: () => ({
    ...dead({ [DEAD]: 'network' }, { [DEAD]: 0 }),
    wants: (step) => (step % every === 0 ? DEAD : undefined),
  }),
});
const ORDINALS: Readonly<Record<number, string>> = { 2: 'second ', 5: 'fifth ' };

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
  ...[1, 2, 5].flatMap((every) => [60, 300].map((steps) => wantedEvery(every, steps))),
  {
    ...FIVE_TOOLS,
    id: 'one-tool',
    title: 'a run with one tool, which is dead (network)',
    tools: { [DEAD]: {} },
    world: () => dead({ [DEAD]: 'network' }),
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
    ...EIGHT_TOOLS,
    id: 'two-alike',
    title: 'two dead tools of eight that have nothing but their category in common',
    world: (random) => twoAlike(CATEGORIES[Math.floor(random() * CATEGORIES.length)] ?? 'server'),
  },
  ...CATEGORIES.map(
    (category): Scenario => ({
      ...EIGHT_TOOLS,
      id: `two-alike-${category}`,
      title: `the same, with ${category}`,
      hidden: true,
      world: () => twoAlike(category),
    }),
  ),
  {
    ...EIGHT_TOOLS,
    id: 'three-alike',
    title: 'three dead tools of eight that have nothing but their category in common (server)',
    world: () => dead({ [DEAD]: 'server', [OTHER]: 'server', query_db: 'server' }),
  },
  behindServer('three-of-server', 'three tools of five are dead, because the server behind them is (server)', {}),
  behindServer('three-declared', 'the same, and each of the three has `dependsOn`', { dependsOn: ['api'] }),
  behindServer('three-of-group', 'the same, and the three are a group instead', { group: 'api' }),
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
    id: 'stray-20',
    title: '20 % of the calls fail',
    stray: 0.2,
    world: () => sound,
  },
  ...[1, 3, 8].flatMap((calls) => [withoutSteps(0.02, calls), withoutSteps(0.01, calls)]),
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
    id: 'all-mixed',
    title: 'every call fails, each with any category',
    stray: 1,
    world: () => sound,
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
