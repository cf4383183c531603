import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_REPEATS, type Digested, isRepeat, type LoopGuard, NO_LOOPS, settled, tried } from './loop-guard.ts';

const TIMEOUT = 'failure:timeout';
const MISSING = 'ignored:tool_error';

/** A call as `tool(arguments)`, and how it ends; with no end it stays under way. */
type Call = readonly [call: string, way?: string];

const parse = (call: string): { tool: string; input: Digested | undefined } => {
  const [tool = '', digest = ''] = call.split(/[()]/);
  return { tool, input: digest === '' ? undefined : { digest: () => digest } };
};

const isSkipped = (guard: LoopGuard, call: string, repeats = DEFAULT_REPEATS): boolean =>
  isRepeat(guard, parse(call).tool, parse(call).input, repeats);

const ends = (guard: LoopGuard, call: string, way: string, repeats = DEFAULT_REPEATS): LoopGuard =>
  settled(guard, parse(call).tool, parse(call).input, way, repeats);

/** Calls one after the other, as a session makes them: what is skipped isn't tried. */
const after = (calls: readonly Call[], repeats = DEFAULT_REPEATS, from = NO_LOOPS): LoopGuard =>
  calls.reduce((guard, [call, way]) => {
    if (isSkipped(guard, call, repeats)) return guard;
    const begun = tried(guard, parse(call).tool, parse(call).input, repeats);
    return way === undefined ? begun : ends(begun, call, way, repeats);
  }, from);

const times = (count: number, ...calls: readonly Call[]): readonly Call[] =>
  Array.from({ length: count }, () => calls).flat();

describe('O5: repeated calls without success', () => {
  test('O5: a call with the same arguments and the same result without success is skipped after three in a row', () => {
    expect(isSkipped(after(times(2, ['a(x)', TIMEOUT])), 'a(x)')).toBe(false);
    expect(isSkipped(after(times(3, ['a(x)', TIMEOUT])), 'a(x)')).toBe(true);
  });

  test.each(['failure:network', 'ignored:tool_error', 'ignored:invalid_input', 'ignored:denied', 'ignored:cancelled'])(
    'O5: %s is not a success',
    (way) => {
      expect(isSkipped(after(times(3, ['a(x)', way])), 'a(x)')).toBe(true);
    },
  );

  test('O5: the guard blocks only those arguments, and only that tool', () => {
    const guard = after(times(3, ['a(x)', TIMEOUT]));
    expect(['a(y)', 'b(x)', 'a()'].map((call) => isSkipped(guard, call))).toEqual([false, false, false]);
  });

  test('O5: the number of repeats is configurable, and one is enough', () => {
    expect(isSkipped(after(times(1, ['a(x)', TIMEOUT]), 1), 'a(x)', 1)).toBe(true);
    expect(isSkipped(after(times(4, ['a(x)', TIMEOUT]), 5), 'a(x)', 5)).toBe(false);
    expect(isSkipped(after(times(5, ['a(x)', TIMEOUT]), 5), 'a(x)', 5)).toBe(true);
  });

  test.each<readonly [string, readonly Call[]]>([
    ['a success', [['a(x)', 'success']]],
    ['another way, which counts as the first of its kind', [['a(x)', MISSING]]],
    ['other arguments', [['a(y)', TIMEOUT]]],
    ['other arguments, still under way', [['a(y)']]],
    ['arguments that are not known', [['a()', TIMEOUT]]],
    ['a success of another tool', [['b(x)', 'success']]],
    ['a success of a tool whose arguments are not known', [['b()', 'success']]],
  ])('O5: %s between the calls ends the row', (_, between) => {
    const guard = after([...times(2, ['a(x)', TIMEOUT]), ...between, ['a(x)', TIMEOUT]]);
    expect(isSkipped(guard, 'a(x)')).toBe(false);
    expect(isSkipped(after(times(2, ['a(x)', TIMEOUT]), 3, guard), 'a(x)')).toBe(true);
  });

  test('O5: another kind of failure starts the count at one', () => {
    const guard = after([...times(2, ['a(x)', TIMEOUT]), ...times(2, ['a(x)', MISSING])]);
    expect(isSkipped(guard, 'a(x)')).toBe(false);
    expect(isSkipped(after([['a(x)', MISSING]], 3, guard), 'a(x)')).toBe(true);
  });

  test('O5: other tools that do not succeed either do not end the row', () => {
    const guard = after([...times(2, ['a(x)', TIMEOUT], ['b(y)', TIMEOUT], ['c()', MISSING]), ['a(x)', TIMEOUT]]);
    expect(isSkipped(guard, 'a(x)')).toBe(true);
  });

  test('O5: unknown arguments are never a repeat', () => {
    const guard = after(times(10, ['a()', TIMEOUT]));
    expect(guard).toBe(NO_LOOPS);
    expect(isSkipped(guard, 'a()')).toBe(false);
  });
});

describe('O5: a block lasts until the session tries another call', () => {
  const blocked = after(times(3, ['a(x)', TIMEOUT]));

  test.each(['a(y)', 'a()', 'b(x)', 'b()'])(
    'O5: %s lifts the block before that call has ended, and the count begins at 0',
    (call) => {
      const lifted = after([[call]], 3, blocked);
      expect(isSkipped(lifted, 'a(x)')).toBe(false);
      const again = after(times(2, ['a(x)', TIMEOUT]), 3, lifted);
      expect(isSkipped(again, 'a(x)')).toBe(false);
      expect(isSkipped(after([['a(x)', TIMEOUT]], 3, again), 'a(x)')).toBe(true);
    },
  );

  test('O5: a skipped call changes nothing', () => {
    expect(after(times(5, ['a(x)', TIMEOUT]), 3, blocked)).toBe(blocked);
  });

  test('O5: two calls that fail in turns are both found, and neither lifts the block of the other', () => {
    const guard = after(times(3, ['a(x)', TIMEOUT], ['b(y)', MISSING]));
    expect(['a(x)', 'b(y)'].map((call) => isSkipped(guard, call))).toEqual([true, true]);
    expect(after(times(5, ['a(x)', TIMEOUT], ['b(y)', MISSING]), 3, guard)).toBe(guard);
    const lifted = after([['c(z)']], 3, guard);
    expect(['a(x)', 'b(y)'].map((call) => isSkipped(lifted, call))).toEqual([false, false]);
  });

  test('O5: a call that failed before and now succeeds lifts the block of the other', () => {
    const guard = after([...times(2, ['a(x)', TIMEOUT], ['b(y)', MISSING]), ['a(x)', TIMEOUT]]);
    const asked = after([['b(y)']], 3, guard);
    expect(isSkipped(asked, 'a(x)')).toBe(true);
    expect(isSkipped(ends(asked, 'b(y)', 'success'), 'a(x)')).toBe(false);
  });

  test('O5: lifting a block keeps the counts of others', () => {
    const guard = after([...times(2, ['b(y)', MISSING]), ...times(3, ['a(x)', TIMEOUT]), ['c(z)'], ['b(y)', MISSING]]);
    expect(['a(x)', 'b(y)'].map((call) => isSkipped(guard, call))).toEqual([false, true]);
  });
});

describe('O5: concurrent calls', () => {
  test('O5: results of calls begun before the block do not change it', () => {
    const together = after([['a(w)'], ...times(6, ['a(x)'])]);
    const blocked = [1, 2, 3].reduce((guard) => ends(guard, 'a(x)', TIMEOUT), together);
    for (const [call, way] of [
      ['a(x)', TIMEOUT],
      ['a(x)', MISSING],
      ['a(w)', TIMEOUT],
      ['a()', MISSING],
    ] as const) {
      expect(ends(blocked, call, way)).toBe(blocked);
    }
  });

  test('O5: a success of one of them lifts the block', () => {
    const blocked = after(times(3, ['a(x)', TIMEOUT]));
    expect(isSkipped(ends(blocked, 'a(x)', 'success'), 'a(x)')).toBe(false);
  });

  test('O5: a call that ends after the block was lifted is the first of a new row', () => {
    const lifted = after([...times(3, ['a(x)', TIMEOUT]), ['b(y)']]);
    const late = ends(lifted, 'a(x)', TIMEOUT);
    expect(isSkipped(after([['a(x)', TIMEOUT]], 3, late), 'a(x)')).toBe(false);
    expect(isSkipped(after(times(2, ['a(x)', TIMEOUT]), 3, late), 'a(x)')).toBe(true);
  });
});

describe('O5: the guard itself', () => {
  test('O5: 200 tools are remembered; the least recently used one is forgotten first', () => {
    const names = Array.from({ length: 200 }, (_, index) => `tool${index}(x)`);
    const full = after(
      names.flatMap((name) => times(2, [name, TIMEOUT])),
      5,
    );
    const used = after(
      [
        ['tool0(x)', TIMEOUT],
        ['late(x)', TIMEOUT],
      ],
      5,
      full,
    );
    expect(used).toHaveLength(200);
    const count = (tool: string) => used.find((row) => row.tool === tool)?.count;
    expect([count('tool0'), count('tool1'), count('tool2'), count('late')]).toEqual([3, undefined, 2, 1]);
  });

  test('O5: a digest is made only if a call of the same tool has failed before', () => {
    const unasked: Digested = {
      digest: () => {
        throw new Error('not needed');
      },
    };
    const guard = after([...times(3, ['a(x)', TIMEOUT]), ...times(2, ['b(y)', TIMEOUT])], 4);
    expect([isRepeat(NO_LOOPS, 'a', unasked, 4), isRepeat(guard, 'c', unasked, 4)]).toEqual([false, false]);
    expect(isRepeat(guard, 'a', unasked, 4)).toBe(false); // Once more is not too often.
    expect(tried(guard, 'c', unasked, 4)).toBe(guard);
    expect(settled(guard, 'a', unasked, 'success', 4)).toBe(NO_LOOPS);
    expect(settled(guard, 'a', unasked, TIMEOUT, 3)).toBe(guard); // It is blocked.
    for (const ask of [
      () => isRepeat(guard, 'a', unasked, 3),
      () => tried(guard, 'b', unasked, 4),
      () => settled(guard, 'c', unasked, TIMEOUT, 4),
    ]) {
      expect(ask).toThrow('not needed');
    }
  });

  test('O5: the guard never mutates its state', () => {
    const frozen = Object.freeze([Object.freeze({ tool: 'a', digest: 'x', way: TIMEOUT, count: 3 })]);
    for (const call of ['a(x)', 'a(y)', 'b(y)']) {
      for (const way of [TIMEOUT, MISSING, 'success'])
        ends(tried(frozen, parse(call).tool, parse(call).input, 3), call, way);
    }
    expect(frozen).toEqual([{ tool: 'a', digest: 'x', way: TIMEOUT, count: 3 }]);
  });

  test('O5: the guard agrees with a simple model of the rule, whatever the order of calls and results', () => {
    const event = fc.record({
      call: fc.constantFrom('a(x)', 'a(x)', 'a(y)', 'a()', 'b(x)', 'b(x)', 'b(y)', 'c(x)'),
      way: fc.constantFrom('begins', 'begins', TIMEOUT, TIMEOUT, TIMEOUT, MISSING, 'success'),
    });
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 40, size: 'max' }),
        fc.integer({ min: 1, max: 4 }),
        (events, repeats) => {
          const account = new Account(repeats);
          let guard = NO_LOOPS;
          for (const { call, way } of events) {
            const { tool, input } = parse(call);
            expect(isSkipped(guard, call, repeats)).toBe(account.skips(call));
            if (way !== 'begins') {
              guard = ends(guard, call, way, repeats);
              account.end(call, way);
            } else if (!account.skips(call)) {
              guard = tried(guard, tool, input, repeats);
              account.begin(call);
            }
          }
        },
      ),
      { numRuns: 5000 },
    );
  });
});

/** The rule once more, told by what happened to each tool since it was last of interest. */
class Account {
  readonly #repeats: number;
  /** By tool, all results of its latest arguments. */
  readonly #results = new Map<string, { call: string; ways: string[] }>();
  readonly #blocked = new Set<string>();

  constructor(repeats: number) {
    this.#repeats = repeats;
  }

  skips(call: string): boolean {
    return this.#blocked.has(call);
  }

  begin(call: string): void {
    const { tool } = parse(call);
    if (this.#results.get(tool)?.call === call) return;
    for (const blocked of [call, ...this.#blocked]) this.#results.delete(parse(blocked).tool);
    this.#blocked.clear();
  }

  end(call: string, way: string): void {
    const { tool, input } = parse(call);
    if (way === 'success') {
      this.#results.clear();
      this.#blocked.clear();
      return;
    }
    const isHeld = [...this.#blocked].some((one) => parse(one).tool === tool);
    if (input === undefined || isHeld) return;
    const known = this.#results.get(tool);
    const ways = known?.call === call ? [...known.ways, way] : [way];
    this.#results.set(tool, { call, ways });
    const latest = ways.slice(-this.#repeats);
    if (latest.length === this.#repeats && latest.every((one) => one === way)) this.#blocked.add(call);
  }
}
