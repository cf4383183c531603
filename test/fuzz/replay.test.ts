/** The inputs of the fuzzer that are kept in the repository. A new one that failed is added to test/fuzz/corpus. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { CORPUS, inputsIn } from './corpus.ts';
import { checkExposition, expositionOf } from './exposition.ts';
import { stopTargets, targets } from './targets.ts';

afterAll(stopTargets);

describe.each(Object.entries(targets))('%s', (name, target) => {
  const inputs = [...inputsIn(join(CORPUS, name))];

  test('has inputs', () => {
    expect(inputs.length).toBeGreaterThan(0);
  });

  test.each(inputs)('%s breaks no promise', async (_file, text) => {
    await target(text);
  });
});

test('promtool reads the names of tools that the fuzzer begins with', async () => {
  const tools = [...inputsIn(join(CORPUS, 'exposition')).values()].flatMap((text) => text.split('\n'));
  const input = await expositionOf([...new Set(tools)]);
  await checkExposition(tools.join('\n'));
  const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
  // 3: it can be read, and promtool has remarks on style.
  expect([0, 3], stderr).toContain(status);
});
