import { createHash } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { createBreakerbox } from './breakerbox.ts';
import { BOX_SHAPE, boxInternals } from './session-internals.ts';

const box = createBreakerbox({ agent: 'a', scope: 'process', tools: { a: {} } });

test('a copy of this package with the same shape reads the box, and one with another shape says so', async () => {
  vi.resetModules();
  const copy = await import('./session-internals.ts');
  expect(copy.boxInternals(box, 'f()')).toBe(boxInternals(box, 'f()'));
  const key = Symbol.for(`@breakerbox/core:boxes:${BOX_SHAPE}`);
  const boxes = Reflect.get(globalThis, key);
  Reflect.deleteProperty(globalThis, key); // As a copy with another number sees it.
  const read = () => copy.boxInternals(box, 'f()');
  expect(read).toThrow(/not a box\. .* another version of @breakerbox\/core made it: install one version\.$/);
  Reflect.set(globalThis, key, boxes);
});

test('the shape matches its number: raise BOX_SHAPE when it changes, and write the new digest here', () => {
  const internals = boxInternals(box, 'f()');
  const { context } = internals;
  const parts = [internals, context, context.overrides.common, context.evidence, context.shared ?? {}];
  const shape = parts.map((part) => Object.keys(part).sort());
  const digest = createHash('sha256').update(JSON.stringify(shape)).digest('hex').slice(0, 12);
  expect([BOX_SHAPE, digest]).toEqual([1, '17774f3f15c7']);
});
