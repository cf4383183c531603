import { timeOf } from './jsonl.ts';

/** OTLP in JSON, as the Collector's file exporter and the SDKs' JSON serializers write it. Everything may be missing. */
interface OtlpValue {
  readonly stringValue?: unknown;
  readonly intValue?: unknown;
  readonly doubleValue?: unknown;
  readonly boolValue?: unknown;
  readonly arrayValue?: { readonly values?: unknown } | null;
  readonly kvlistValue?: { readonly values?: unknown } | null;
}

interface OtlpAttribute {
  readonly key?: unknown;
  readonly value?: OtlpValue | null;
}

interface OtlpSpan {
  readonly traceId?: unknown;
  readonly spanId?: unknown;
  readonly parentSpanId?: unknown;
  readonly traceState?: unknown;
  readonly flags?: unknown;
  readonly name?: unknown;
  readonly startTimeUnixNano?: unknown;
  readonly endTimeUnixNano?: unknown;
  readonly attributes?: unknown;
  readonly events?: unknown;
  readonly status?: { readonly code?: unknown; readonly message?: unknown } | null;
}

/** A span with its attributes by name. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  /** The parent is in another process. */
  readonly hasRemoteParent: boolean;
  readonly traceState: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: ReadonlyMap<string, unknown>;
  readonly isError: boolean;
  readonly statusMessage: string | undefined;
  /** Attributes of the last recorded exception. */
  readonly exception: ReadonlyMap<string, unknown> | undefined;
  /** The models that a guard tried before the one that answered (L7). */
  readonly tried: readonly TriedModel[];
}

/** A model that did not answer. */
export interface TriedModel {
  /** `PROVIDER/MODEL`. */
  readonly model: string;
  /** `failed`, `skipped` or `unsupported`. */
  readonly result: string;
  readonly category: string | undefined;
  readonly status: number | undefined;
  readonly atMs: number;
}

const REMOTE_KNOWN = 0x100;
const REMOTE = 0x200;

/** The spans of one OTLP message; undefined if the value is not a message. */
export const spansOf = (message: unknown): readonly Span[] | undefined => {
  const resources = listOf(message, 'resourceSpans');
  if (!resources) return undefined;
  return resources.flatMap((resource) =>
    (listOf(resource, 'scopeSpans') ?? listOf(resource, 'instrumentationLibrarySpans') ?? []).flatMap((scope) =>
      (listOf(scope, 'spans') ?? []).flatMap((span) => spanOf(span as OtlpSpan) ?? []),
    ),
  );
};

const listOf = (value: unknown, key: string): readonly unknown[] | undefined => {
  const list = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return Array.isArray(list) ? list : undefined;
};

const spanOf = (span: OtlpSpan | null): Span | undefined => {
  const { traceId, spanId, parentSpanId, flags, name, status } = span ?? {};
  const [startMs, endMs] = [msOf(span?.startTimeUnixNano), msOf(span?.endTimeUnixNano)];
  if (typeof traceId !== 'string' || typeof spanId !== 'string' || startMs === undefined) return undefined;
  const bits = typeof flags === 'number' ? flags : 0;
  return {
    traceId,
    spanId,
    parentId: typeof parentSpanId === 'string' && /[1-9a-f]/i.test(parentSpanId) ? parentSpanId : undefined,
    hasRemoteParent: (bits & REMOTE_KNOWN) !== 0 && (bits & REMOTE) !== 0,
    traceState: typeof span?.traceState === 'string' ? span.traceState : '',
    name: typeof name === 'string' ? name : '',
    startMs,
    endMs: Math.max(endMs ?? startMs, startMs),
    attributes: attributesOf(span?.attributes),
    isError: status?.code === 2 || status?.code === 'STATUS_CODE_ERROR',
    statusMessage: typeof status?.message === 'string' ? status.message : undefined,
    exception: exceptionOf(span?.events),
    tried: triedOf(span?.events, startMs),
  };
};

/**
 * Milliseconds of nanoseconds, which are a string in JSON. To the microsecond: a number has no room for nanoseconds of today, and whole
 * milliseconds must stay whole.
 */
const msOf = (nanos: unknown): number | undefined =>
  typeof nanos === 'string' || typeof nanos === 'number'
    ? timeOf(Math.round(Number(nanos) / 1e3) / 1e3) || undefined
    : undefined;

const attributesOf = (attributes: unknown): ReadonlyMap<string, unknown> => {
  const found = new Map<string, unknown>();
  if (!Array.isArray(attributes)) return found;
  for (const one of attributes as readonly (OtlpAttribute | null)[]) {
    if (typeof one?.key === 'string') found.set(one.key, plain(one.value));
  }
  return found;
};

const plain = (value: OtlpValue | null | undefined): unknown => {
  const { stringValue, intValue, doubleValue, boolValue, arrayValue, kvlistValue } = value ?? {};
  if (arrayValue) return (listOf(arrayValue, 'values') ?? []).map((one) => plain(one as OtlpValue | null));
  if (kvlistValue) return Object.fromEntries(attributesOf(kvlistValue.values));
  return stringValue ?? (intValue === undefined ? doubleValue : Number(intValue)) ?? boolValue;
};

const NONE: readonly TriedModel[] = [];

const triedOf = (events: unknown, startMs: number): readonly TriedModel[] => {
  if (!Array.isArray(events)) return NONE;
  const found = events.filter((event) => event?.name === 'breakerbox.model.tried');
  return found.length === 0 ? NONE : found.map((event) => triedModel(event, startMs));
};

const triedModel = (event: { attributes?: unknown; timeUnixNano?: unknown }, startMs: number): TriedModel => {
  const attributes = attributesOf(event.attributes);
  const [category, status] = [attributes.get('error.type'), attributes.get('http.response.status_code')];
  return {
    model: `${attributes.get('gen_ai.tool.name')}`.replace(/^model:/, ''),
    result: `${attributes.get('breakerbox.result')}`,
    category: typeof category === 'string' ? category : undefined,
    status: typeof status === 'number' ? status : undefined,
    atMs: Math.max(startMs, msOf(event.timeUnixNano) ?? startMs),
  };
};

const exceptionOf = (events: unknown): ReadonlyMap<string, unknown> | undefined => {
  if (!Array.isArray(events)) return undefined;
  const last = events.findLast((event) => event?.name === 'exception');
  return last && attributesOf(last.attributes);
};
