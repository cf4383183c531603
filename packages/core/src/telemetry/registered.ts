/**
 * Where every copy of OpenTelemetry's API, of whatever 1.x, keeps what is registered: the one thing that they all have to
 * agree on, so that an SDK that registered itself with one of them serves the others.
 */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');
const SIGNALS = ['metrics', 'trace', 'logs', 'context', 'propagation'] as const;
const globals = globalThis as { readonly [REGISTRY]?: { readonly [signal in (typeof SIGNALS)[number]]?: unknown } };

let registry = globals[REGISTRY];

/**
 * Looks at what is registered now: to be done first of all whenever a session is used. While nothing is registered, this look
 * is a fifth of what a decision costs, so that there is one for all signals.
 */
export const lookAround = (): void => {
  registry = globals[REGISTRY];
};

/**
 * What was registered for a signal at the last look, to be compared with what was seen before: a fraction of what the API
 * takes to hand out a provider. Only when it has changed, need the API be asked.
 */
export const registeredApi = (signal: 'metrics' | 'trace'): unknown => registry?.[signal];

/** Whether any part of an SDK is registered now. */
export const hasSdk = (): boolean => SIGNALS.some((signal) => globals[REGISTRY]?.[signal] !== undefined);
