import { ERROR_CATEGORIES, type ErrorCategory } from '@breakerbox/core';
import { classifyModelCall, type ModelCallVerdict } from '@breakerbox/instrumentation';
import type { RecordedModelCall } from '../recording.ts';
import { attribute } from './otlp-calls.ts';
import type { Span, TriedModel } from './otlp-json.ts';

/** What a recording says that is no failure of a model: its caller left. */
const LEFT = /abort|cancel/i;

/** An error's text may begin with the status, as those of OpenAI's and Anthropic's clients do. In Python they say `Error code: 401 - {…}`. */
const STATUS = /^(?:[\w.]*Error: )*([45]\d\d)\b|\bError code: ([45]\d\d)\b/;

/** The codes in a body, which a client of Python quotes as a `dict`. */
const CODE = /['"](?:code|reason|status|type)['"]: ?['"](\w{1,99})['"]/g;

/** Failures that are those of the provider's key, for all of its models. */
const OF_PROVIDER: ReadonlySet<ErrorCategory> = new Set<ErrorCategory>(['permission', 'resource']);

/** The calls of models behind a span: its own, and those of the models that a guard tried before. */
export const modelCallsOf = (span: Span, session: string): readonly RecordedModelCall[] => {
  const { startMs, endMs, tried } = span;
  const agent = attribute(span, 'gen_ai.agent.name');
  const base = { session, agent };
  const before = tried.flatMap(({ atMs, ...one }) =>
    one.result === 'failed' ? [{ ...base, startMs, endMs: atMs, ...triedVerdict(one, atMs) }] : [],
  );
  const provider =
    attribute(span, 'gen_ai.provider.name', 'gen_ai.system', 'ai.model.provider', 'llm.provider', 'llm.system') ??
    'unknown';
  const model = attribute(span, 'gen_ai.request.model', 'ai.model.id', 'llm.model_name', 'gen_ai.response.model');
  // The span of a guard that no model answered has the name of the first one, which is among those that were tried.
  const isOfNone = tried.length > 0 && attribute(span, 'breakerbox.model.position') === undefined;
  if (model === undefined || isOfNone) return before;
  return [...before, { ...base, startMs: before.at(-1)?.endMs ?? startMs, endMs, ...verdictOf(span, provider, model) }];
};

const verdictOf = (span: Span, provider: string, model: string): ModelCallVerdict => {
  const { attributes, exception, isError, statusMessage, endMs } = span;
  const type = attribute(span, 'error.type');
  const answered = classifyModelCall({ provider, model });
  if (type === undefined && !isError && exception === undefined) return answered;
  const category = ERROR_CATEGORIES.find((one) => one === type);
  if (category !== undefined) return ofCategory(answered, category);
  const message = `${exception?.get('exception.message') ?? statusMessage ?? ''}`;
  const name = `${exception?.get('exception.type') ?? type ?? 'Error'}`;
  if (LEFT.test(name)) return { ...answered, outcome: 'ignored', category: 'cancelled' };
  const [, first, later] = STATUS.exec(message) ?? [];
  const said = [type, attributes.get('http.response.status_code'), first ?? later].map(Number);
  const details = [...message.matchAll(CODE)].map(([, reason]) => ({ reason }));
  const status = said.find((one) => one >= 400 && one < 600);
  const error = Object.assign(new Error(message), {
    name,
    code: type,
    error: { details },
    ...(status !== undefined && { status }),
  });
  return classifyModelCall({ provider, model, error, unixMs: endMs });
};

const triedVerdict = (tried: Omit<TriedModel, 'atMs'>, atMs: number): ModelCallVerdict => {
  const [provider = 'unknown', ...rest] = tried.model.split('/');
  const named = { provider, model: rest.join('/') };
  const { status } = tried;
  if (status !== undefined) return classifyModelCall({ ...named, error: { status }, unixMs: atMs });
  const category = ERROR_CATEGORIES.find((one) => one === tried.category) ?? 'unknown';
  return ofCategory(classifyModelCall(named), category);
};

const ofCategory = (answered: ModelCallVerdict, category: ErrorCategory): ModelCallVerdict => {
  if (category === 'cancelled' || category === 'denied') return { ...answered, outcome: 'ignored', category };
  const isOfRequest = category === 'invalid_input';
  return {
    ...answered,
    outcome: isOfRequest ? 'ignored' : 'failure',
    category,
    blames: OF_PROVIDER.has(category) ? 'group' : undefined,
    wait: category === 'resource' ? 'longest' : undefined,
    asksNext: !isOfRequest,
  };
};
