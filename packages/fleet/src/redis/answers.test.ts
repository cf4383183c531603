import { expect, test } from 'vitest';
import { readWord } from './answers.ts';

test('G11: an answer with more records than a store keeps is read up to that number, and the others count as ignored', async () => {
  const record = '1 {"s":"open","g":1,"c":"network","t":1,"w":1}';
  const fields = Array.from({ length: 2_000 }, (_, index) => [`c:digest:tool-${index}`, record]).flat();
  const word = await readWord([1, 'epoch', 1, 1, ['', 1], 0, ...fields]);
  expect(word.circuits).toHaveLength(1_200);
  expect(word.ignored).toBe(800);
});
