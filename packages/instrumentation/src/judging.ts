import { type Classification, ERROR_CATEGORIES, type ErrorCategory } from '@breakerbox/core';
import { atOnce, read, safely } from '@breakerbox/core/internal';
import { targetIn } from './classify/call.ts';
import { readReturned, readThrown, type Verdict } from './classify/classify.ts';
import { kindOf, TOOL_KINDS, type ToolKind } from './classify/kind.ts';
import { firstName } from './groups.ts';
import { aValue, functionGiven, type OptionCheck, show } from './options.ts';

/**
 * Options that set how results and errors are judged, and the key of a call. The box's configuration of the tool takes precedence. The
 * functions get the tool's name in circuits, and have to answer synchronously. If one throws, or gives an invalid answer, the error goes
 * to OpenTelemetry's `diag` and the answer counts as `undefined`.
 */
export interface JudgingOptions<Result = unknown, Input = unknown> {
  /**
   * Says whether a result is a failure (O7): `true` is a failure of category `server`, a category is a failure of that category, `false`
   * is a success, `undefined` leaves it to `classify` and the classifier. It is not asked about async generators. Default: the
   * classifier.
   *
   * @example
   * ```ts
   * isFailure: (result) => (result as { status?: string }).status === 'down' || undefined
   * ```
   */
  readonly isFailure?: (result: Result, tool: string) => boolean | ErrorCategory | undefined;
  /**
   * Gives the category of everything that was thrown, and of every result (`returned: true`); `undefined` leaves it to the classifier.
   * `{ category, blames: 'key' }` blames the call's key and not the tool (C14). Default: the classifier.
   */
  readonly classify?: (
    value: unknown,
    context: { readonly returned: boolean; readonly tool: string },
  ) => ErrorCategory | Classification | undefined;
  /**
   * The key of a call (C14), such as the host or the account that its input names. A failure that blames the key skips later calls with
   * that key only. Keys are kept as hashes. `undefined` and an empty string: no key. `false`: no call has one, and all failures count for
   * the tool. Default: the host of the first URL in the input, or its `host`.
   *
   * @example
   * ```ts
   * key: ({ account }) => account
   * ```
   */
  readonly key?: ((input: Input, tool: string) => string | undefined) | false;
  /**
   * What kind of tool it is, where that changes how its errors are read. The output of a `runner` comes from the user's program. A `fetch`
   * or a `browser` fails because of the host that the model chose. `false`: none of them. Default: by the tool's name,
   * or `runner` if the input holds a program.
   */
  readonly kind?: ToolKind | false | ((tool: string) => ToolKind | false | undefined);
}

const isKind = (value: unknown): value is ToolKind => TOOL_KINDS.some((kind) => kind === value);

/** For the options in {@link JudgingOptions}. */
export const JUDGING = {
  isFailure: functionGiven,
  classify: functionGiven,
  key: (value) =>
    value === false || typeof value === 'function'
      ? undefined
      : `is ${show(value)}. Set a function such as byHost(), which takes the input and returns a key. Set false for no keys, or leave it out.`,
  kind: (value) =>
    value === false || isKind(value) || typeof value === 'function'
      ? undefined
      : `is ${show(value)}. Set ${TOOL_KINDS.map((kind) => `'${kind}'`).join(', ')} or false, or a function that returns one of them for the name of a tool. Or leave it out.`,
} as const satisfies Readonly<Record<keyof JudgingOptions, OptionCheck>>;

/** Facts about a tool that its framework knows. */
export interface KnownTool {
  /** The server's own name of an MCP tool. Default: the tool's name in circuits. */
  readonly name?: string | undefined;
  /** The title of an MCP tool. */
  readonly title?: string | undefined;
}

/** Reads how the calls of a tool end. Never throws. */
export interface Judge {
  /** The key of a call; undefined if it has no key. */
  keyOf(input: unknown): string | undefined;
  /**
   * The error that a result reports; `null` for a success.
   *
   * @param evidence The value that the classifier reads in place of the result, if a framework reports errors in its own way.
   * @param signal The tool's signal, which has not fired (O10).
   */
  returned(result: unknown, input: unknown, evidence?: unknown, signal?: AbortSignal): Classification | null;
  /**
   * Why a tool threw, or was stopped by this signal.
   *
   * @param ranMs How long the call had run, in milliseconds, if the signal is its caller's (O10).
   */
  thrown(error: unknown, input: unknown, signal?: AbortSignal, ranMs?: number): Classification;
  /** The same by the option `classify` alone. */
  byOption(error: unknown): Classification | undefined;
}

/** The judge of a tool, by its name in circuits. */
export type JudgeOf = (tool: string, known?: KnownTool) => Judge;

/**
 * The judges that these options define.
 *
 * @param where The caller's name in reports of a function that throws (E5).
 */
export const judgesBy = (options: JudgingOptions, where: string): JudgeOf => {
  return (tool, known) => new ToolJudge(tool, options, where, known);
};

/** A judge without options, which asks only the classifier. */
export const plainJudge: JudgeOf = judgesBy({}, 'a call');

/**
 * The key of a call (C14) that no option names: the host of the first URL in its input, or its `host`. Guards and `breakerbox replay` use
 * it. Give it to `acquire` if you settle calls with the verdicts of `classifyError`.
 */
export const defaultKey = (input: unknown): string | undefined => targetIn(input)?.host;

/** A class, because adapters make one for many calls. */
class ToolJudge implements Judge {
  readonly #tool: string;
  readonly #options: JudgingOptions;
  readonly #where: string;
  readonly #kind: ToolKind | false | undefined;
  readonly #name: string;

  constructor(tool: string, options: JudgingOptions, where: string, known: KnownTool = {}) {
    this.#tool = tool;
    this.#options = options;
    this.#where = where;
    this.#name = known.name ?? tool;
    this.#kind = this.#readKind(known);
  }

  keyOf(input: unknown): string | undefined {
    const { key } = this.#options;
    if (key === undefined) return targetIn(input)?.host;
    return key ? this.#ask('key', () => key(input, this.#tool), asKey) : undefined;
  }

  returned(result: unknown, input: unknown, evidence: unknown = result, signal?: AbortSignal): Classification | null {
    const { isFailure, classify } = this.#options;
    const failure = isFailure && this.#ask('isFailure', () => isFailure(result, this.#tool), asFailure);
    if (failure !== undefined) return failure;
    const classified = classify && this.#classified(result, true);
    if (classified !== undefined) return classified;
    const call = { input, kind: this.#kind, tool: this.#name };
    const found = readReturned(evidence, signal === undefined ? call : { ...call, signal });
    if (found === undefined) return null;
    const verdict = this.#blaming(found, input);
    // The call was not aborted, because its signal would have shown that before.
    return verdict.category === 'cancelled' ? { ...verdict, category: 'tool_error' } : verdict;
  }

  thrown(error: unknown, input: unknown, signal?: AbortSignal, ranMs?: number): Classification {
    const classified = this.byOption(error);
    if (classified !== undefined) return classified;
    const stopped = signal && { signal, ...(ranMs !== undefined && { ranMs }) };
    return this.#blaming(readThrown(error, { input, kind: this.#kind, tool: this.#name, ...stopped }), input);
  }

  byOption(error: unknown): Classification | undefined {
    return this.#classified(error, false);
  }

  #classified(value: unknown, returned: boolean): Classification | undefined {
    const { classify } = this.#options;
    const tool = this.#tool;
    return classify && this.#ask('classify', () => classify(value, { returned, tool }), asClassification);
  }

  /** C14: a call without arguments chooses no host. Without keys, the tool has one circuit for all of them. */
  #blaming(found: Verdict, input: unknown): Classification {
    const isKeyless = this.#options.key === false && found.blames === 'key';
    return isKeyless || input === undefined ? { ...found, blames: 'tool' } : found;
  }

  #readKind({ name = this.#tool, title }: KnownTool): ToolKind | false | undefined {
    const { kind } = this.#options;
    const given = typeof kind === 'function' ? this.#ask('kind', () => kind(this.#tool), asKind) : kind;
    return given ?? kindOf(name, { title });
  }

  #ask<Read>(option: keyof JudgingOptions, ask: () => unknown, convert: (answer: unknown) => Read): Read | undefined {
    const what = `${option}() of ${this.#where} for tool '${this.#tool}'`;
    return safely(what, () => {
      const answer = atOnce(what, ask());
      const valid = convert(answer);
      if (valid === undefined && answer !== undefined && answer !== null && answer !== '') {
        throw new TypeError(
          `It returned ${aValue(answer)}, which is not a valid answer of ${option}. Return one of the values that its documentation (JudgingOptions) lists, or undefined.`,
        );
      }
      return valid;
    });
  }
}

const asKey = (answer: unknown): string | undefined =>
  typeof answer === 'string' && answer !== '' ? answer : undefined;

const asKind = (answer: unknown): ToolKind | false | undefined =>
  answer === false || isKind(answer) ? answer : undefined;

const asFailure = (answer: unknown): Classification | null | undefined => {
  if (answer === false) return null;
  return answer === true ? { category: 'server' } : asClassification(answer);
};

/** Undefined if the value is not a category, because callers in JavaScript have no type checks. */
const asClassification = (answer: unknown): Classification | undefined => {
  const { category, retryAfterMs, blames } =
    typeof answer === 'object' && answer !== null ? (answer as Partial<Classification>) : { category: answer };
  const known = ERROR_CATEGORIES.find((one) => one === category);
  return (
    known && {
      category: known,
      ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
      ...((blames === 'key' || blames === 'group') && { blames }),
    }
  );
};

/** The title of a tool as an MCP server lists it. */
export const titleOf = (tool: unknown): string | undefined =>
  firstName(read(read(tool, 'annotations'), 'title'), read(tool, 'title'));
