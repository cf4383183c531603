import { expect, test } from 'vitest';
import { costOf, expectLinear, MOST_GROWTH } from './cost.ts';

const work = (times: number): number => {
  let sum = 0;
  for (let count = 0; count < times; count += 1) sum = (sum + Math.imul(count, count)) | 0;
  return sum;
};

test('work in proportion to the input passes, whatever the smallest size costs', async () => {
  await expectLinear({ entry: 'linear', make: (size) => size, run: (size) => work(100 * size) });
  await expectLinear({ entry: 'constant', make: (size) => size, run: () => work(10) });
});

test('quadratic work fails, even where the small sizes cost little in comparison with the rest', async () => {
  const quadratic = {
    entry: 'quadratic',
    from: 64,
    make: (size: number) => size,
    run: (size: number) => work(size ** 2),
  };
  await expect(expectLinear(quadratic)).rejects.toThrow(/^quadratic: the CPU time grows \d\.\d\d-fold per doubling/);
  const late = await costOf({ ...quadratic, run: (size) => work(1e5) + work(size ** 2) });
  expect(late.growth).toBeGreaterThan(MOST_GROWTH);
}, 180_000);

test('an error is an answer, and a promise is awaited', async () => {
  const fails = { entry: 'fails', make: (size: number) => size };
  await expectLinear({
    ...fails,
    run: () => {
      throw new Error('not like this');
    },
  });
  await expectLinear({ ...fails, run: async () => Promise.reject(new Error('nor like this')) });
});
