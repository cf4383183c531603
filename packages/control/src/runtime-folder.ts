import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/**
 * The folder for sockets, in which `breakerbox ctl` looks: `breakerbox` in `XDG_RUNTIME_DIR`, else in a folder of the user among the
 * temporary files.
 */
export const runtimeFolder = (env: NodeJS.ProcessEnv = process.env): string =>
  join(env.XDG_RUNTIME_DIR || join(tmpdir(), `breakerbox-${userInfo().uid}`), 'breakerbox');
