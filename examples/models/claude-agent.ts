import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMessagesApi } from './anthropic.ts';
import type { ScriptedStep } from './script.ts';

/** What Claude Code needs to speak with a script instead of a model. `stop` it. */
export interface ScriptedClaude {
  /** To be spread into the options of `query`. Nothing of the user's own settings is read, nothing goes to the internet. */
  readonly options: {
    readonly cwd: string;
    readonly env: Record<string, string | undefined>;
    readonly model: string;
    readonly persistSession: false;
    readonly settingSources: [];
  };
  /** The texts of all tool results that the model had read by its last turn, in order, without Claude Code's own reminders. */
  heard(): readonly string[];
  stop(): Promise<void>;
}

/** Tools of MCP servers are called by their whole names, such as `mcp__docs__search`. */
export const scriptedModel = async (steps: readonly ScriptedStep[]): Promise<ScriptedClaude> => {
  const folder = await mkdtemp(join(tmpdir(), 'scripted-claude-'));
  const api = await startMessagesApi(steps);
  return {
    options: {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        CLAUDE_CODE_TMPDIR: folder,
        CLAUDE_CONFIG_DIR: folder,
        ANTHROPIC_BASE_URL: api.url,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_ERROR_REPORTING: '1',
        DISABLE_TELEMETRY: '1',
        // The model knows its tools from the start, and none has to be looked up.
        ENABLE_TOOL_SEARCH: 'false',
      },
      model: 'claude-sonnet-5',
      persistSession: false,
      settingSources: [],
    },
    heard: () => api.heard().map((text) => text.replace(REMINDER, '')),
    stop: async () => {
      await api.stop();
      // A process that was aborted may still be writing.
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
};

const REMINDER = /\s*<system-reminder>[\s\S]*?<\/system-reminder>/g;
