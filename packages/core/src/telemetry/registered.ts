/**
 * Where every copy of OpenTelemetry's API, of any 1.x, keeps what is registered. All copies must agree on it, so that an SDK that
 * registered with one of them serves the others.
 */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');
const SIGNALS = ['metrics', 'trace', 'logs', 'context', 'propagation'] as const;
const globals = globalThis as { readonly [REGISTRY]?: { readonly [signal in (typeof SIGNALS)[number]]?: unknown } };

let registry = globals[REGISTRY];

/**
 * Reads what is registered now. Call it first whenever a session is used. While nothing is registered, this read is a fifth of the
 * cost of a decision, so there is one for all signals.
 */
export const lookAround = (): void => {
  registry = globals[REGISTRY];
};

/**
 * What was registered for a signal at the last look, to compare with what was seen before. This costs a fraction of asking the API
 * for a provider. The API is asked only if it has changed.
 */
export const registeredApi = (signal: 'metrics' | 'trace'): unknown => registry?.[signal];

/** Whether any part of an SDK is registered now. */
export const hasSdk = (): boolean => SIGNALS.some((signal) => globals[REGISTRY]?.[signal] !== undefined);
