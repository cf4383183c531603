import { expect, test } from 'vitest';
import { standIn } from './stand-in.ts';

class Original {
  #secret = 'secret';
  readonly own = () => this.#secret;
  readonly #schema = Object.assign(() => 'parsed', { '~standard': 1 });

  get schema() {
    return this.#schema;
  }

  set secret(secret: string) {
    this.#secret = secret;
  }

  method() {
    return this.#secret;
  }

  replaced() {
    return 'original';
  }
}

test('methods and accessors find private members', () => {
  const original = new Original();
  const stand = standIn(original, new Map([['replaced', () => 'stand-in']]));
  expect([stand.method(), stand.own(), stand.replaced()]).toEqual(['secret', 'secret', 'stand-in']);
  expect(stand.method).toBe(stand.method);
  stand.secret = 'another';
  expect(original.method()).toBe('another');
});

test('what an accessor or a field gives is the very same, functions with properties too', () => {
  const original = new Original();
  const stand = standIn(original, new Map());
  expect(stand.schema).toBe(original.schema);
  expect(stand.own).toBe(original.own);
  expect(stand.constructor).toBe(Original);
});

test('what the original gains later is seen', () => {
  const original: Record<string, number> = { one: 1 };
  const stand = standIn(original, new Map([['one', 2]]));
  original.two = 2;
  expect(Object.entries(stand)).toEqual([
    ['one', 2],
    ['two', 2],
  ]);
});

test('a frozen original is no obstacle', () => {
  const key = Symbol('key');
  const original = Object.freeze({ replaced: () => 'original', other: 1, [key]: 2 });
  const stand = standIn(original, new Map([['replaced', () => 'stand-in']]));
  expect([stand.replaced(), stand.other, stand[key], Reflect.ownKeys(stand)]).toEqual([
    'stand-in',
    1,
    2,
    ['replaced', 'other', key],
  ]);
});
