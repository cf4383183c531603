import type { Permit } from '@breakerbox/core';
import type { GuardedCall } from './guard.ts';
import type { Run } from './run.ts';

/**
 * The second argument of a tool. Most tools whose functions name no second parameter never read it. Their signal is only made when
 * they do read it, in any way, copies and spreads included.
 */
export const callOf = (run: Run, permit: Permit, parameters: number): GuardedCall =>
  parameters > 1 ? { signal: run.signal, permit } : (new Proxy({ permit }, new Unread(run)) as GuardedCall);

type Unfinished = Partial<GuardedCall>;

class Unread implements ProxyHandler<Unfinished> {
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
  }

  get(call: Unfinished, key: PropertyKey): unknown {
    return Reflect.get(this.#finish(call), key);
  }

  has(call: Unfinished, key: PropertyKey): boolean {
    return Reflect.has(this.#finish(call), key);
  }

  ownKeys(call: Unfinished): (string | symbol)[] {
    return Reflect.ownKeys(this.#finish(call));
  }

  getOwnPropertyDescriptor(call: Unfinished, key: PropertyKey): PropertyDescriptor | undefined {
    return Reflect.getOwnPropertyDescriptor(this.#finish(call), key);
  }

  preventExtensions(call: Unfinished): boolean {
    return Reflect.preventExtensions(this.#finish(call));
  }

  #finish(call: Unfinished): Unfinished {
    if (!Object.hasOwn(call, 'signal')) Object.assign(call, { signal: this.#run.signal });
    return call;
  }
}
