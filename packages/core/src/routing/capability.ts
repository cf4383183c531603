import {
  aFunction,
  type Check,
  type ConfigIssue,
  gather,
  isRecord,
  list,
  object,
  oneOf,
  orLeaveOut,
  show,
  text,
} from '../checks/checks.ts';
import { shortened, someNames } from '../checks/names.ts';

/** How much an alternative loses (R1). */
export const DEGRADATIONS = ['low', 'high', 'unknown'] as const;

export type Degradation = (typeof DEGRADATIONS)[number];

/** An alternative: another tool to use as a fallback (R1). */
export interface Alternative {
  /** The name of a configured tool. */
  readonly tool: string;
  /** How to use the alternative for this purpose, in words for the model. */
  readonly method?: string;
  /** How much the alternative loses. Default `unknown`. */
  readonly degradation?: Degradation;
  /** What the alternative loses, in words for the model. */
  readonly note?: string;
  /** Converts this tool's input into the alternative's input. The executor may then call the alternative directly (R4). */
  adapt?(input: unknown): unknown; // As a method, so that a function of a narrower input type fits.
}

/** The purpose of a tool, and what to do without it (R1). */
export interface Capability {
  /** What the tool provides, in words: `web search`. */
  readonly provides?: string;
  /** Tools to use as fallbacks. The usable one of least degradation is chosen; among equals the first. */
  readonly alternatives?: readonly Alternative[];
  /** What a person or the model may do if no alternative is usable: `ask the user for a link`. */
  readonly fallback?: string;
  /**
   * Tools, or anything else by name, that this tool depends on. Their backoffs share a cap, and a shared dependency is
   * suspected first (S4).
   */
  readonly dependsOn?: readonly string[];
}

const notInAFile: Check = (path) => [
  { path, message: `is a function, which a file cannot contain. Leave it out here, and set it in code.` },
];

/** Checks each alternative by itself. The check of the whole map tells whether its tool exists. */
const alternative =
  (adapt: Check): Check =>
  (path, value) => {
    if (!isRecord(value)) {
      const such = typeof value === 'string' ? show(value) : "'news_search'";
      return [{ path, message: `is ${show(value)}. Give an object such as { tool: ${such} }.` }];
    }
    const tool = text('it is the name of the alternative tool.');
    const missing = value.tool === undefined ? tool(`${path}.tool`, undefined) : [];
    const checks: Readonly<Record<keyof Alternative, Check>> = {
      tool,
      method: text('it tells the model how to use the alternative in place of this tool. Or leave it out.'),
      degradation: oneOf(
        DEGRADATIONS,
        orLeaveOut('It says how much is lost with the alternative. The default is unknown.'),
      ),
      note: text('it tells the model what the alternative loses. Or leave it out.'),
      adapt,
    };
    return [...object(checks)(path, value), ...missing];
  };

const checksWith = (adapt: Check) =>
  ({
    provides: text('it says what the tool provides. Or leave it out.'),
    alternatives: list(alternative(adapt), "[{ tool: 'news_search' }]"),
    fallback: text('it tells the model what to do without the tool. Or leave it out.'),
    dependsOn: list(
      text('it is the name of a tool or of anything else that this tool depends on.'),
      "['egress-proxy']",
    ),
  }) satisfies Readonly<Record<keyof Capability, Check>>;

/** For a tool that is configured in code. */
export const capabilityChecks = checksWith(
  aFunction("that takes this tool's input and returns the input of the alternative"),
);

/** For a tool that comes from a file. */
export const capabilityFileChecks = checksWith(notInAFile);

/**
 * R1: faults across the tools. Takes any value and checks its well-formed parts, so that all faults are reported at once.
 * {@link capabilityChecks} reports the malformed parts.
 */
export const checkCapabilityMap = (tools: unknown): readonly ConfigIssue[] => {
  const map = new Map(isRecord(tools) ? Object.entries(tools) : []);
  const fallbacks = (tool: string) => alternativesOf(map.get(tool));
  const basis = (tool: string) => textsIn(own(map.get(tool), 'dependsOn'));
  return [
    ...gather(map.keys(), (tool) => checkAlternatives(tool, fallbacks(tool), map)),
    ...cyclesOf(map, 'alternatives', (tool) => textsIn(fallbacks(tool)).filter((one) => one !== tool)),
    ...cyclesOf(map, 'dependsOn', basis),
  ];
};

const checkAlternatives = (
  tool: string,
  alternatives: readonly (string | undefined)[],
  map: ReadonlyMap<string, unknown>,
): readonly ConfigIssue[] => {
  const seen = new Set<string | undefined>();
  return gather(alternatives, (one, index) => {
    const fault = one === undefined ? undefined : faultOf(one, tool, seen.has(one), map);
    seen.add(one);
    return fault === undefined ? [] : [{ path: `tools.${tool}.alternatives[${index}].tool`, message: fault }];
  });
};

const faultOf = (one: string, tool: string, again: boolean, map: ReadonlyMap<string, unknown>): string | undefined => {
  if (one === tool) return `is the tool itself, which is unavailable when an alternative is needed. Name another tool.`;
  if (!map.has(one)) {
    const known = someNames([...map.keys()].filter((name) => name !== tool));
    return (
      `is ${show(one)}, but no tool has that name. Correct the name` +
      `${known === '' ? '' : ` (the tools are ${known})`}, or add the tool.`
    );
  }
  return again ? `is ${show(one)} again, and only the first one is used. Remove one of them.` : undefined;
};

const WHY = {
  alternatives:
    'tools that are alternatives of one another would send the model from one to the other without end. Remove one of these alternatives',
  dependsOn: 'a tool cannot depend on itself, directly or through other tools. Remove one of these dependencies',
} as const;

const cyclesOf = (
  map: ReadonlyMap<string, unknown>,
  key: keyof typeof WHY,
  next: (tool: string) => readonly string[],
): readonly ConfigIssue[] =>
  walk(map.keys(), next).cycles.map((cycle) => ({
    path: `tools.${cycle[0]}.${key}`,
    message: `is a cycle, ${describeCycle(cycle)}: ${WHY[key]}.`,
  }));

/** R1: warnings for tools without alternative and fallback, which leave the model nothing to do. */
export const capabilityWarnings = (tools: Readonly<Record<string, Capability>>): readonly ConfigIssue[] =>
  Object.entries(tools)
    .filter(([, { alternatives = [], fallback }]) => alternatives.length === 0 && fallback === undefined)
    .map(([tool]) => ({
      path: `tools.${tool}`,
      message:
        `has neither an alternative nor a fallback. If it is unavailable, the model can only leave out its part. Say what ` +
        `to do instead, such as fallback: 'ask the user for a link'.`,
    }));

/** By position; undefined if the entry is not well-formed. */
const alternativesOf = (tool: unknown): readonly (string | undefined)[] => {
  const alternatives = own(tool, 'alternatives');
  if (!Array.isArray(alternatives)) return [];
  return Array.from(alternatives, (one: unknown) => textsIn([own(one, 'tool')])[0]);
};

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

const own = (value: unknown, key: string): unknown =>
  isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** The result of a walk along the dependencies between names. */
export interface Walk {
  /** Every name once, after all names that it points to. Arrows that close a cycle are ignored. */
  readonly order: readonly string[];
  /**
   * One for each arrow that leads back to where the walk came from, at most 100. A name that points to itself is a cycle of one.
   */
  readonly cycles: readonly (readonly string[])[];
}

/** A name on the path, and its arrows that are still to be followed. */
interface Stop {
  readonly name: string;
  readonly ahead: Iterator<string>;
}

/** Each cycle may be as long as the map, and there may be as many as arrows: in a malicious file, too many to keep. */
const MOST_CYCLES = 100;

/** Walks from each name, in order. Without recursion: a map from a file may be deep. */
export const walk = (names: Iterable<string>, next: (name: string) => readonly string[] | undefined): Walk => {
  const order = new Set<string>();
  const cycles: string[][] = [];
  const way: Stop[] = [];
  const places = new Map<string, number>();
  const go = (name: string): void => {
    if (order.has(name)) return;
    places.set(name, way.length);
    way.push({ name, ahead: new Set(next(name)).values() });
  };
  for (const start of names) {
    go(start);
    for (let here = way.at(-1); here !== undefined; here = way.at(-1)) {
      const { done, value } = here.ahead.next();
      if (done) {
        order.add(here.name);
        places.delete(here.name);
        way.pop();
        continue;
      }
      const place = places.get(value);
      if (place === undefined) go(value);
      else if (cycles.length < MOST_CYCLES) cycles.push(way.slice(place).map(({ name }) => name));
    }
  }
  return { order: [...order], cycles };
};

/** `a → b → a`; for a long cycle, only the beginning. */
export const describeCycle = (cycle: readonly string[]): string => {
  const some = cycle.slice(0, MOST_SHOWN).map((name) => shortened(name, 60));
  const more = cycle.length > some.length ? [`${cycle.length - some.length} more`] : [];
  return [...some, ...more, ...some.slice(0, 1)].join(' → ');
};

const MOST_SHOWN = 10;

/** What each tool depends on, by tool. A name without an entry is not a tool but a resource. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

/** Every tool has an entry, even if it depends on nothing. */
export const dependenciesOf = (tools: Readonly<Record<string, Capability>>): Dependencies =>
  new Map(Object.entries(tools).map(([tool, { dependsOn = [] }]) => [tool, dependsOn]));

/**
 * P4: for each tool, the number of tools on the longest path of `dependsOn` through it, itself included. Resources do not count.
 */
export const longestChains = (dependencies: Dependencies): ReadonlyMap<string, number> => {
  const above = depths(dependents(dependencies));
  return new Map([...depths(dependencies)].map(([tool, below]) => [tool, below + (above.get(tool) ?? 1) - 1]));
};

/** The number of tools on the longest path from each tool, itself included. */
const depths = (next: Dependencies): ReadonlyMap<string, number> => {
  const found = new Map<string, number>();
  for (const name of walk(next.keys(), (one) => next.get(one)).order) {
    const ahead = next.get(name)?.map((one) => found.get(one) ?? 0);
    if (ahead !== undefined) found.set(name, 1 + Math.max(0, ...ahead));
  }
  return found;
};

/** The same dependencies in reverse: which tools depend on each. */
export const dependents = (dependencies: Dependencies): Dependencies => {
  const found = new Map<string, string[]>([...dependencies.keys()].map((tool) => [tool, []]));
  for (const [tool, basis] of dependencies) for (const one of basis) found.get(one)?.push(tool);
  return found;
};

/**
 * S4: a name that all these tools reach by `dependsOn`, themselves included. The name with the fewest hops in total wins; among
 * equals, the one that is nearest to the first tool. Undefined if they share nothing.
 */
export const sharedDependency = (tools: readonly string[], dependencies: Dependencies): string | undefined => {
  const [first, ...others] = tools.map((tool) => hopsFrom(tool, dependencies));
  const totals = [...(first ?? [])]
    .filter(([name]) => others.every((hops) => hops.has(name)))
    .map(([name, own]) => [name, others.reduce((sum, hops) => sum + (hops.get(name) ?? 0), own)] as const);
  return totals.toSorted(([, one], [, other]) => one - other)[0]?.[0]; // Stable: nearest to the first tool first.
};

/** The number of hops to each name that this one reaches, nearest first. A cycle is walked once. */
const hopsFrom = (tool: string, dependencies: Dependencies): ReadonlyMap<string, number> => {
  const hops = new Map([[tool, 0]]);
  for (const [name, count] of hops) {
    for (const one of dependencies.get(name) ?? []) if (!hops.has(one)) hops.set(one, count + 1); // Grows during the walk.
  }
  return hops;
};

/** S2: these tools, and every tool that depends on one of them, directly or indirectly. `above`: see {@link dependents}. */
export const withDependents = (tools: Iterable<string>, above: Dependencies): ReadonlySet<string> => {
  const found = new Set(tools);
  for (const tool of found) for (const one of above.get(tool) ?? []) found.add(one); // Grows during the walk.
  return found;
};

/** The dependencies of a box's tools. `forget`: a tool was declared, which may be a link of any chain, so that they are computed again. */
export const keptChains = (capabilities: () => Readonly<Record<string, Capability>>) => {
  let dependencies: Dependencies | undefined;
  let above: Dependencies | undefined;
  let lengths: ReadonlyMap<string, number> | undefined;
  const current = (): Dependencies => {
    dependencies ??= dependenciesOf(capabilities());
    return dependencies;
  };
  return {
    forget: (): void => {
      dependencies = undefined;
      above = undefined;
      lengths = undefined;
    },
    length: (tool: string): number => {
      lengths ??= longestChains(current());
      return lengths.get(tool) ?? 1;
    },
    shared: (tools: readonly string[]) => sharedDependency(tools, current()),
    withDependents: (tools: Iterable<string>) => {
      above ??= dependents(current());
      return withDependents(tools, above);
    },
  };
};
