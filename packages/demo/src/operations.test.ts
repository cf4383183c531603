import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBreakerbox } from '@breakerbox/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { look, targetsOf } from '../../cli/src/ctl/targets.ts';
import { startOperations } from './operations.ts';

test('A7: `breakerbox ctl list` finds a demo without a variable or an option', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-operations-'));
  vi.stubEnv('XDG_RUNTIME_DIR', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  const box = createBreakerbox({ agent: 'demo-agent', tools: { search: {} } });
  const operations = await startOperations([box], { socket: undefined, folder: undefined, port: 0 });
  onTestFinished(() => operations.close());
  const found = await look(targetsOf({}, process.env));
  expect(found.map(({ target, state }) => [target.url, state?.boxes.map(({ agent }) => agent)])).toEqual([
    [operations.endpoint, ['demo-agent']],
  ]);
});
