/** A user without an entry in /etc/passwd, such as of `runAsUser` in Kubernetes. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startControl } from '@breakerbox/control';
import { createBreakerbox } from '@breakerbox/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runCommand } from '../test-support-command.ts';
import { ctlCommand } from './ctl-command.ts';

vi.mock('node:os', async (original) => ({
  ...(await original<typeof import('node:os')>()),
  userInfo: () => {
    throw Object.assign(new Error('uv_os_get_passwd returned ENOENT'), { code: 'ERR_SYSTEM_ERROR' });
  },
}));

test('A6, A7: a user without a name has control of its agents, and the audit file has its number', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'breakerbox-nameless-'));
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  vi.stubEnv('XDG_RUNTIME_DIR', folder);
  const control = await startControl({ boxes: [createBreakerbox({ agent: 'a', tools: { search: {} } })] });
  onTestFinished(() => control.close());
  const args = ['disable', 'a', 'search', '--reason', 'x'];
  expect(await runCommand((io) => ctlCommand(io, { XDG_RUNTIME_DIR: folder }), args)).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, 'breakerbox', 'audit.jsonl'), 'utf8')).toContain(`"${process.geteuid?.()}"`);
});
