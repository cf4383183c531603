// The parts that the benchmark uses of two packages without types.
declare module 'opossum' {
  import type { EventEmitter } from 'node:events';

  interface Options {
    readonly name?: string;
    readonly timeout?: number | false;
    readonly resetTimeout?: number;
    readonly errorThresholdPercentage?: number;
    readonly rollingCountTimeout?: number;
    readonly rollingPercentilesEnabled?: boolean;
    readonly enableSnapshots?: boolean;
    readonly rotateBucketController?: EventEmitter;
  }

  export default class CircuitBreaker<Input extends unknown[], Output> extends EventEmitter {
    constructor(action: (...input: Input) => Promise<Output>, options?: Options);
    fire(...input: Input): Promise<Output>;
    fallback(action: (...input: Input) => Promise<Output>): this;
    shutdown(): void;
  }
}

declare module 'opossum-prometheus' {
  import type { EventEmitter } from 'node:events';
  import type { Registry } from 'prom-client';

  export default class PrometheusMetrics {
    constructor(options: { readonly circuits?: readonly EventEmitter[]; readonly registry: Registry });
    add(circuits: readonly EventEmitter[]): void;
    /** With the prom-client 12 that it depends on, this returns a string and not a promise. */
    readonly metrics: string;
  }
}
