import { byHost, type Classification, ERROR_CATEGORIES, type ErrorCategory } from '@breakerbox/core';
import { atOnce, safely } from '@breakerbox/core/internal';
import { kindOf, type ReadContext, readReturned, readThrown, type ToolKind, type Verdict } from './classify/index.ts';
import { allSaidBy, saidBy } from './classify/said.ts';
import { firstName } from './groups.ts';
import { type OptionCheck, show } from './options.ts';
import { readOf } from './readable.ts';

/**
 * How the ends of calls are read, and which key a call has. What the box's configuration says of a tool comes first. The functions get
 * the tool's name in circuits, and have to answer at once. What they throw goes to OpenTelemetry's `diag`, and counts as `undefined`.
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
   * that key only. Keys are kept as hashes. `undefined` and an empty string: no key. `false`: no call has one. Default: the host of the
   * web address that the input is, or that it has as `url`.
   *
   * @example
   * ```ts
   * key: byHost() // of @breakerbox/core: the host of `url` in the input
   * ```
   */
  readonly key?: ((input: Input, tool: string) => string | undefined) | false;
  /**
   * What kind of tool it is, where that changes how its errors are read: what a `runner` prints is the user's program, not the runner; a
   * `fetch` or a `browser` fails for the host that the model chose. Default: by the tool's name.
   */
  readonly kind?: ToolKind | ((tool: string) => ToolKind | undefined);
}

const KINDS: readonly unknown[] = ['runner', 'fetch', 'browser'] satisfies readonly ToolKind[];

const isKind = (value: unknown): value is ToolKind => KINDS.includes(value);

const reader: OptionCheck = (value) =>
  typeof value === 'function' ? undefined : `is ${show(value)}. Set a function, or leave it out.`;

/** For the options in {@link JudgingOptions}. */
export const JUDGING = {
  isFailure: reader,
  classify: reader,
  key: (value) =>
    value === false || typeof value === 'function'
      ? undefined
      : `is ${show(value)}. Set a function that gives the key of a call by its input, such as byHost(), or false for none, or leave it out.`,
  kind: (value) =>
    isKind(value) || typeof value === 'function'
      ? undefined
      : `is ${show(value)}. Set 'runner', 'fetch' or 'browser', or a function that gives one of them by the tool's name, or leave it out.`,
} as const satisfies Readonly<Record<keyof JudgingOptions, OptionCheck>>;

/** What a framework knows of a tool. */
export interface KnownTool {
  /** The server's own name of an MCP tool. Default: the tool's name in circuits. */
  readonly name?: string | undefined;
  /** That of an MCP tool. */
  readonly title?: string | undefined;
}

/** Reads how the calls of a tool end. Never throws. */
export interface Judge {
  /** The key of a call; undefined for none. */
  keyOf(input: unknown): string | undefined;
  /**
   * What a result reports; `null` for a success.
   *
   * @param evidence what the classifier reads in its place, where a framework reports errors in its own way
   */
  returned(result: unknown, input: unknown, evidence?: unknown): Classification | null;
  /** Why a tool threw, or was stopped by this signal. */
  thrown(error: unknown, input: unknown, signal?: AbortSignal): Classification;
  /** The same by the option `classify` alone. */
  told(error: unknown): Classification | undefined;
}

/** The judge of a tool, by its name in circuits. */
export type JudgeOf = (tool: string, known?: KnownTool) => Judge;

/**
 * What the options say.
 *
 * @param where names the caller in reports of a function that throws (E5).
 */
export const judgesBy = (options: JudgingOptions, where: string): JudgeOf => {
  return (tool, known) => new ToolJudge(tool, options, where, known);
};

/** Asks the classifier alone. */
export const plainJudge: JudgeOf = judgesBy({}, 'a call');

/** A class, because adapters make one for many calls. */
class ToolJudge implements Judge {
  readonly #tool: string;
  readonly #options: JudgingOptions;
  readonly #where: string;
  readonly #known: KnownTool;
  #kind: ToolKind | undefined | null = null;

  constructor(tool: string, options: JudgingOptions, where: string, known: KnownTool = {}) {
    this.#tool = tool;
    this.#options = options;
    this.#where = where;
    this.#known = known;
  }

  keyOf(input: unknown): string | undefined {
    const { key } = this.#options;
    if (key === undefined) return hostOf(input);
    return key ? this.#ask('key', () => key(input, this.#tool), asKey) : undefined;
  }

  returned(result: unknown, input: unknown, evidence: unknown = result): Classification | null {
    const { isFailure } = this.#options;
    const said = isFailure && this.#ask('isFailure', () => isFailure(result, this.#tool), asFailure);
    if (said !== undefined) return said;
    const told = this.#classified(result, true);
    if (told !== undefined) return told;
    const read = readReturned(evidence, this.#context(input));
    if (read === undefined) return null;
    const verdict = verdictOn(read, evidence, input);
    // Nobody of ours aborted, or the signal would have said so before.
    return verdict.category === 'cancelled' ? { ...verdict, category: 'tool_error' } : verdict;
  }

  thrown(error: unknown, input: unknown, signal?: AbortSignal): Classification {
    const told = this.told(error);
    if (told !== undefined) return told;
    const context = this.#context(input);
    return verdictOn(readThrown(error, signal ? { ...context, signal } : context), error, input);
  }

  told(error: unknown): Classification | undefined {
    return this.#classified(error, false);
  }

  #classified(value: unknown, returned: boolean): Classification | undefined {
    const { classify } = this.#options;
    const tool = this.#tool;
    return classify && this.#ask('classify', () => classify(value, { returned, tool }), asClassification);
  }

  #context(input: unknown): ReadContext {
    if (this.#kind === null) this.#kind = this.#readKind(); // Once: guard() keeps its judge.
    return this.#kind === undefined ? { input } : { input, kind: this.#kind };
  }

  #readKind(): ToolKind | undefined {
    const { kind } = this.#options;
    const { name = this.#tool, title } = this.#known;
    const said = typeof kind === 'function' ? this.#ask('kind', () => kind(this.#tool), asKind) : kind;
    return said ?? kindOf(name, { title });
  }

  #ask<Read>(option: keyof JudgingOptions, ask: () => unknown, read: (answer: unknown) => Read): Read | undefined {
    const what = `${option}() of ${this.#where} for tool '${this.#tool}'`;
    return safely(what, () => read(atOnce(what, ask())));
  }
}

/** What the classifier read, but for what it can't know. */
const verdictOn = (read: Verdict, value: unknown, input: unknown): Classification => {
  // B3: a guard within the tool, maybe in another process, skipped the call: the failures behind that are charged already.
  const text = `${saidBy(value)}\n${allSaidBy(value)}`;
  const isSkipped = /\bTool '.{1,200}' is unavailable\b/.test(text) && /\bDo not retry it\b/.test(text);
  if (isSkipped || /\bDo not call any tools, including\b/.test(text)) return { category: 'tool_error' };
  // C14: a call without arguments chooses no host, file or account.
  return input === undefined ? { ...read, blames: 'tool' } : read;
};

const asKey = (said: unknown): string | undefined => (typeof said === 'string' && said !== '' ? said : undefined);

const asKind = (said: unknown): ToolKind | undefined => (isKind(said) ? said : undefined);

const asFailure = (said: unknown): Classification | null | undefined => {
  if (said === false) return null;
  return said === true ? { category: 'server' } : asClassification(said);
};

/** Undefined for what is none: users may have no types. */
const asClassification = (said: unknown): Classification | undefined => {
  const { category, retryAfterMs, blames } =
    typeof said === 'object' && said !== null ? (said as Partial<Classification>) : { category: said };
  const known = ERROR_CATEGORIES.find((one) => one === category);
  return (
    known && {
      category: known,
      ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
      ...(blames === 'key' && { blames }),
    }
  );
};

/** The title of a tool as an MCP server lists it. */
export const titleOf = (tool: unknown): string | undefined =>
  firstName(readOf(readOf(tool, 'annotations'), 'title'), readOf(tool, 'title'));

const hostIn = byHost();

/** The host of an absolute address of the web. */
const hostOf = (input: unknown): string | undefined => {
  const url = typeof input === 'string' ? input : readOf(input, 'url');
  return typeof url === 'string' && /^https?:\/\//i.test(url) ? hostIn(url) : undefined;
};
