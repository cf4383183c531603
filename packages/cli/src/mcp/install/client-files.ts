import { join } from 'node:path';

/** The MCP clients whose configuration `breakerbox mcp install` knows. */
export const CLIENTS = ['claude-code', 'claude-desktop', 'cursor', 'vscode'] as const;
export type McpClient = (typeof CLIENTS)[number];

/** What decides where a client keeps its configuration. */
export interface Surroundings {
  readonly home: string;
  /** The project's folder. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

export interface ClientFile {
  readonly path: string;
  /** Whether people share it with a project, so that it must not name anything of this machine. */
  readonly isShared: boolean;
}

interface ClientTraits {
  readonly title: string;
  /** Whether `--write` may change its files. */
  readonly isWritten: boolean;
  /** Where its file holds servers. `*` is any key. */
  readonly roots: readonly (readonly string[])[];
  /** Whether it skips a server with an address whose entry has no `type`. */
  readonly needsType?: boolean;
  readonly files: (around: Surroundings) => readonly ClientFile[];
  /** How the change takes effect. */
  readonly restart: string;
}

const own = (path: string): ClientFile => ({ path, isShared: false });
const shared = (path: string): ClientFile => ({ path, isShared: true });

/** The folder in which programs with windows keep their settings. */
const settingsFolder = ({ home, env, platform }: Surroundings): string => {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  // A variable that is empty is as one that is not set.
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming');
  return env.XDG_CONFIG_HOME || join(home, '.config');
};

export const CLIENT_TRAITS: Readonly<Record<McpClient, ClientTraits>> = {
  'claude-code': {
    title: 'Claude Code',
    isWritten: true,
    roots: [['mcpServers'], ['projects', '*', 'mcpServers']],
    needsType: true,
    files: ({ home, cwd, env }) => [
      own(join(env.CLAUDE_CONFIG_DIR || home, '.claude.json')),
      shared(join(cwd, '.mcp.json')),
    ],
    restart: 'Start Claude Code again.',
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    isWritten: true,
    roots: [['mcpServers']],
    files: (around) => [own(join(settingsFolder(around), 'Claude', 'claude_desktop_config.json'))],
    restart: 'Quit Claude Desktop and start it again.',
  },
  cursor: {
    title: 'Cursor',
    isWritten: false,
    roots: [['mcpServers']],
    files: ({ home, cwd }) => [own(join(home, '.cursor', 'mcp.json')), shared(join(cwd, '.cursor', 'mcp.json'))],
    restart: 'Cursor starts a changed server again.',
  },
  vscode: {
    title: 'VS Code',
    isWritten: false,
    roots: [['servers']],
    files: (around) => [
      own(join(settingsFolder(around), 'Code', 'User', 'mcp.json')),
      shared(join(around.cwd, '.vscode', 'mcp.json')),
    ],
    restart: 'Run "MCP: List Servers" in VS Code and restart the server.',
  },
};
