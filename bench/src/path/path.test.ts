import { expect, it } from 'vitest';
import { GUARD_PATHS, pathSize, tracePaths } from './path.ts';

it('guard() calls run through no more files and functions than their limits allow', async () => {
  const paths = await tracePaths('none');
  const sizes = Object.fromEntries(paths.map((path) => [path.name, pathSize(path)]));
  for (const [name, { limit, target }] of Object.entries(GUARD_PATHS)) {
    const { files, functions } = sizes[name] ?? expect.fail(`no ${name}`);
    expect(files, name).toBeLessThanOrEqual(limit.files);
    expect(functions, name).toBeLessThanOrEqual(limit.functions);
    expect(limit.files, name).toBeGreaterThanOrEqual(target.files);
  }
  // The peers show that the trace sees what it should: these are the numbers of the installed versions.
  expect(sizes).toMatchObject({ cockatiel: { files: 5, functions: 6 }, opossum: { files: 3 } });
  const names = paths.flatMap((path) => path.files.flatMap((file) => file.functions));
  expect(names).toContainEqual(expect.stringMatching(/^acquire:\d+$/));
});
