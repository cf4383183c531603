import { readFileSync } from 'node:fs';
import { type Fence, ROOT } from './fences.ts';

/** Blocks that another test runs or makes. */
export interface Elsewhere {
  readonly file: string;
  /** What such a block has in it, and no other of the file. */
  readonly has: string;
  /** How many such blocks there are; default 1. */
  readonly blocks?: number;
  /** The test, from the root. */
  readonly by: string;
  /** A text in that test that shows that it runs this block; default `has`. */
  readonly words?: string;
}

const instrumentation = (has: string): Elsewhere => ({
  file: 'packages/instrumentation/README.md',
  has,
  by: 'packages/instrumentation/src/readme.test.ts',
});

const frameworks = (has: string): Elsewhere => ({
  file: 'docs/frameworks.md',
  has,
  blocks: 10,
  by: 'test/newcomer.test.ts',
  words: 'runProgram(project, docs',
});

export const ELSEWHERE: readonly Elsewhere[] = [
  {
    file: 'README.md',
    has: "} from '@breakerbox/instrumentation/ai-sdk'",
    by: 'test/readme.test.ts',
    words: 'ten lines of the README',
  },
  frameworks('// agent.ts\n'),
  frameworks('npm install @breakerbox/core @breakerbox/instrumentation @breakerbox/telemetry'),
  instrumentation("'fetch_page'"),
  instrumentation("'news_search'"),
  instrumentation('} = guardAll('),
  instrumentation('hookedCalls('),
  instrumentation('registerTelemetry('),
  instrumentation('tools: guardTools(tools, session, { timeoutMs: 10_000 })'),
  instrumentation('guardMcpClient(client'),
  instrumentation('httpEndpoint('),
  { file: 'docs/recipes.md', has: "from 'next/server'", by: 'test/recipes.test.ts', words: "recipe('Next.js'" },
  { file: 'docs/recipes.md', has: '// workflows/breakers.ts', by: 'test/recipes.test.ts' },
  {
    file: 'docs/recipes.md',
    has: "from './breakers'",
    by: 'test/recipes.test.ts',
    words: "recipe('Vercel Workflow', 'import",
  },
  {
    file: 'docs/models.md',
    has: 'npm install @breakerbox/core @breakerbox/instrumentation ai',
    by: 'test/models/blank-project.test.ts',
    words: "programOf('AI SDK')",
  },
  {
    file: 'docs/troubleshooting.md',
    has: '--banner:js=',
    by: 'test/edge.test.ts',
    words: 'with the banner of docs/troubleshooting.md',
  },
  {
    file: 'docs/fleet.md',
    has: 'ACL SETUSER',
    by: 'packages/fleet/src/redis/acl.test.ts',
  },
  {
    file: 'packages/cli/README.md',
    has: 'capabilities.yaml: 3 tools',
    by: 'packages/cli/src/capabilities/capabilities-command.test.ts',
    words: 'fetch_page   pages by their address',
  },
  {
    file: 'packages/demo/README.md',
    has: 'sends the one probe of all processes. It fails',
    by: 'packages/demo/src/shared/shared-story.test.ts',
  },
];

/** What runs a block elsewhere, if anything does. */
export const ranElsewhere = ({ file, code }: Fence): Elsewhere | undefined =>
  ELSEWHERE.find((one) => one.file === file && code.includes(one.has));

/** Whether the test that is named is there, and speaks of the block. */
export const isTold = ({ by, words, has }: Elsewhere): boolean =>
  readFileSync(`${ROOT}/${by}`, 'utf8')
    .replaceAll(/\s+/g, ' ')
    .includes((words ?? has).replaceAll(/\s+/g, ' '));
