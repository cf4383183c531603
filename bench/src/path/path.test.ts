import { expect, it } from 'vitest';
import { GUARD_PATH, pathSize, tracePaths } from './path.ts';

it('a successful guard() call runs through no more files and functions than the limit allows', async () => {
  const paths = await tracePaths('none');
  const sizes = Object.fromEntries(paths.map((path) => [path.name, pathSize(path)]));
  const { files, functions } = sizes['guard()'] ?? expect.fail('no guard()');
  const { limit, target } = GUARD_PATH;
  expect(files).toBeLessThanOrEqual(limit.files);
  expect(functions).toBeLessThanOrEqual(limit.functions);
  expect(limit.files).toBeGreaterThanOrEqual(target.files);
  // The peers show that the trace sees what it should: these are the numbers of the installed versions.
  expect(sizes).toMatchObject({ cockatiel: { files: 5, functions: 6 }, opossum: { files: 3 } });
  const names = paths.flatMap((path) => path.files.flatMap((file) => file.functions));
  expect(names).toContainEqual(expect.stringMatching(/^acquire:\d+$/));
});
