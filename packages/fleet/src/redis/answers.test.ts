import { expect, test } from 'vitest';
import { readWord } from './answers.ts';

test('G11: an answer with more records, longer ones or more topics than a store keeps fails, and is not read', async () => {
  const record = '1 {"s":"open","g":1,"c":"network","t":1,"w":1}';
  const fields = (count: number) =>
    Array.from({ length: count }, (_, index) => [`c:digest:tool-${index}`, record]).flat();
  const word = (records: number, topics: number) =>
    readWord([1, 'epoch', 1, 1, ['', 1, ...Array(2 * topics).fill(1)], 0, ...fields(records)], 400);
  await expect(word(1_201, 0)).rejects.toThrow('more records than a store keeps');
  const long = readWord([1, 'epoch', 1, 1, ['', 1], 0, 'c:digest:tool', 'x'.repeat(20_000)], 0);
  await expect(long).rejects.toThrow('longer than those of a store');
  await expect(word(0, 401)).rejects.toThrow('more topics than were asked for');
  expect((await word(1_200, 400)).circuits).toHaveLength(1_200);
});
