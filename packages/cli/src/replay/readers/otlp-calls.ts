import type { Span } from './otlp-json.ts';

const MODEL_CALLS: readonly unknown[] = ['chat', 'generate_content', 'text_completion'];
/** Google ADK's name for a span over parallel calls, which have spans of their own. */
const MERGED = '(merged tools)';

/** The first of these attributes that is a text. */
export const attribute = ({ attributes }: Span, ...names: readonly string[]): string | undefined => {
  for (const name of names) {
    const value = attributes.get(name);
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
};

/** Whether Breakerbox made the span. */
export const isOurs = (span: Span): boolean => attribute(span, 'breakerbox.decision') !== undefined;

/** Whether the span is a call of a tool. */
export const isTool = (span: Span): boolean =>
  isOurs(span) ||
  (attribute(span, 'gen_ai.operation.name') === 'execute_tool' && toolOf(span) !== MERGED) ||
  attribute(span, 'mcp.method.name') === 'tools/call' ||
  attribute(span, 'openinference.span.kind') === 'TOOL' ||
  span.name === 'ai.toolCall';

/** Whether the span says that a session was resumed (`resume`), or its event ended (`confirm`). */
export const resumedBy = (span: Span): 'resume' | 'confirm' | undefined =>
  (['resume', 'confirm'] as const).find((action) => action === attribute(span, 'breakerbox.action'));

/** Whether the span is a call of the model. */
export const isModel = (span: Span): boolean =>
  MODEL_CALLS.includes(attribute(span, 'gen_ai.operation.name')) ||
  attribute(span, 'openinference.span.kind') === 'LLM' ||
  /^ai\.(?:generate|stream)(?:Text|Object)\.do/.test(span.name);

/** Names of tokens in and out: of the GenAI conventions, before and after a change, of OpenInference, and of the AI SDK. */
const USAGE = [
  ['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens'],
  ['gen_ai.usage.prompt_tokens', 'gen_ai.usage.completion_tokens'],
  ['llm.token_count.prompt', 'llm.token_count.completion'],
  ['ai.usage.inputTokens', 'ai.usage.outputTokens'],
  ['ai.usage.promptTokens', 'ai.usage.completionTokens'],
] as const;

/** Tokens that the span of a call says it has used; undefined if it does not. */
export const tokensOf = (span: Span): number | undefined => {
  const pairs = isTool(span) ? [['breakerbox.tokens']] : isModel(span) ? USAGE : [];
  for (const names of pairs) {
    const known = names.map((name) => span.attributes.get(name)).filter((value) => typeof value === 'number');
    if (known.length > 0) return known.reduce((sum, value) => sum + value, 0);
  }
  return undefined;
};

/** The name of the tool of a call. */
export const toolOf = (span: Span): string =>
  attribute(span, 'gen_ai.tool.name', 'tool.name', 'ai.toolCall.name') ??
  span.name.replace(/^(?:execute_tool|tools\/call) /, '');

/** The parent of each span of the file, by their ids. */
export type Parents = ReadonlyMap<string, string | undefined>;

/** Spans above a span that are searched. */
const MOST_ABOVE = 100;

/**
 * The ids of the spans above calls of models: with `hasTokens`, above those that say what they have used. A client's span may be below that of
 * a framework or a guard.
 */
export const aboveModels = (spans: Iterable<Span>, parents: Parents, hasTokens = false): ReadonlySet<string> => {
  const found = new Set<string>();
  for (const span of spans) {
    if (!isModel(span) || (hasTokens && tokensOf(span) === undefined)) continue;
    let id = span.parentId;
    for (let above = 0; id !== undefined && above < MOST_ABOVE && !found.has(id); above += 1) {
      found.add(id);
      id = parents.get(id);
    }
  }
  return found;
};

/**
 * Spans of the same tool above and below each other are one call: a framework's span, ours, an MCP client's and its server's. Ours stays,
 * otherwise the one at the top. Its error may be known only below.
 */
export const oncePerCall = (spans: readonly Span[], parents: Parents): readonly Span[] => {
  const tools = new Map(spans.filter(isTool).map((span) => [span.spanId, span]));
  const left = new Set<Span>();
  const below = new Map<Span, Span>();
  for (const span of tools.values()) {
    let id = span.parentId;
    for (let above = 0; id !== undefined && above < MOST_ABOVE; above += 1) {
      const other = tools.get(id);
      if (
        other &&
        !(isOurs(span) && isOurs(other)) &&
        (toolOf(other) === toolOf(span) || (isOurs(span) && above === 0))
      ) {
        left.add(isOurs(span) ? other : span);
        below.set(other, span);
      }
      id = parents.get(id);
    }
  }
  return spans
    .filter((span) => !left.has(span))
    .map((span) => {
      const error = below.get(span);
      return error && isTool(span) && !hasError(span) && hasError(error) ? withErrorOf(span, error) : span;
    });
};

const hasError = (span: Span): boolean =>
  span.isError || span.exception !== undefined || attribute(span, 'error.type') !== undefined;

const withErrorOf = (span: Span, { isError, exception, statusMessage, attributes }: Span): Span => ({
  ...span,
  ...{ isError, exception, statusMessage },
  attributes: new Map([...span.attributes, ['error.type', attributes.get('error.type')]]),
});
