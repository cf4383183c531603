import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Run, runCommand } from '../../test-support-command.ts';
import { type InstallHost, mcpInstallCommand } from './install-command.ts';

/** A machine of its own for a test: a home, a project, and the command on it. */
export interface Machine {
  readonly home: string;
  readonly project: string;
  /** Writes a file of the home folder, or of an absolute path. Gives its path. */
  put(path: string, content: string | Buffer): string;
  read(path: string): string;
  run(...args: readonly string[]): Promise<Run>;
}

/** A folder of PATH with a command `breakerbox`, in an absolute folder. */
export const folderWithCommand = (at: Machine): string => {
  chmodSync(at.put('bin/breakerbox', '#!/bin/sh\n'), 0o755);
  return join(at.home, 'bin');
};

export const machine = (given: Partial<InstallHost> = {}): Machine => {
  const root = mkdtempSync(join(tmpdir(), 'breakerbox-install-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const home = join(root, 'home');
  const project = join(root, 'project');
  for (const folder of [home, project]) mkdirSync(folder);
  const host: InstallHost = {
    home,
    cwd: project,
    env: {},
    platform: 'linux',
    version: '1.2.3',
    main: join(root, 'main.js'),
    execPath: '/usr/bin/node',
    execArgv: [],
    path: '',
    npmHas: async () => true,
    ...given,
  };
  const inHome = (path: string): string => (path.startsWith('/') ? path : join(host.home, path));
  return {
    home: host.home,
    project,
    put: (path, content) => {
      const full = inHome(path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, content);
      return full;
    },
    read: (path) => readFileSync(inHome(path), 'utf8'),
    run: (...args) => runCommand((io) => mcpInstallCommand(host, io), args),
  };
};
