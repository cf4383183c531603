import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faults } from './layout.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const linesOf = (imports) => Object.values(imports).flatMap((from) => from.map((one) => `import '${one}';`));
const file = (path, text = '') => ({ path: `packages/${path}`, text });

describe('scripts/layout.mjs', () => {
  test.each([
    ['a path', file('control/src/seat-keeper.ts'), "the path says 'seat'. Say: session tool"],
    ['a folder', file('control/src/witnesses/witness/a.ts'), "says 'witness'"],
    ['a plural', file('control/src/a.ts', 'export const openCells = 1;'), "openCells says 'cell'. Say: series."],
    ['two words', file('control/src/a.ts', 'export type StandInTool = 1;'), "StandInTool says 'stand in'"],
    ['an upper case name', file('control/src/a.ts', 'export const NEWS_LIMIT = 1;'), "NEWS_LIMIT says 'news'"],
    [
      'a re-export',
      file('control/src/a.ts', "export { type A, b as Outlook } from './b.ts';"),
      "Outlook says 'outlook'",
    ],
    ['hub outside the command', file('control/src/hub.ts'), "says 'hub'"],
  ])('finds a private word in %s', (_, one, message) => {
    expect(faults([one])).toEqual([expect.stringContaining(message)]);
  });

  test('leaves words that only contain one, and the command hub', () => {
    const text = 'export const excellentSubtell = 1;\nexport class Dashboard {}\nexport type ShadowedName = 1;';
    expect(faults([file('control/src/cellar.ts', text), file('cli/src/hub/hub.ts')])).toEqual([]);
  });

  test('finds two files with one basename, in one package only', () => {
    const files = [
      'control/src/x/a.ts',
      'control/src/y/a.ts',
      'cli/src/a.ts',
      'cli/src/b/index.ts',
      'cli/src/index.ts',
    ];
    expect(faults(files.map((path) => file(path)))).toEqual([
      'packages/control/src/y/a.ts: packages/control/src/x/a.ts has the same basename. Name each file after what only it does.',
    ]);
  });

  test('finds a name that two files declare, and lets one pass on the name of another', () => {
    const found = faults([
      file('control/src/a.ts', 'export interface Rate {}\nexport const rate = 1;\nexport const guardTools = 1;'),
      file('control/src/b.ts', "export type { Rate } from './a.ts';\nexport const guardTools = 1;"),
      file('control/src/c.ts', 'const rate = 2;\nexport { rate };'),
      file('control/src/proof/d.ts', 'export const rate = 1;'),
    ]);
    expect(found).toEqual([expect.stringMatching(/^packages\/control\/src\/c\.ts: .*\/a\.ts exports rate too\./)]);
  });

  test('finds two folders of core that import each other', () => {
    const found = faults([
      file(
        'core/src/circuit/a.ts',
        "import { b } from '../budget/b.ts';\nimport { METRIC } from '../telemetry/semconv.ts';",
      ),
      file('core/src/budget/b.ts', "import { c } from '../clock.ts';"),
      file('core/src/budget/deep/d.ts', "import type { A } from '../../circuit/a.ts';\nimport { b } from '../b.ts';"),
      file('core/src/telemetry/series.ts', "import type { A } from '../circuit/a.ts';"),
    ]);
    expect(found).toEqual([
      'packages/core/src/budget/deep/d.ts: it imports packages/core/src/circuit/a.ts, and packages/core/src/circuit/a.ts imports packages/core/src/budget/b.ts. Folders of core import one way: move one of the files.',
    ]);
  });

  test('finds a comment of core that cites two rules', () => {
    const text =
      "/** Open (C6). */\n// Late (C7), and free (C7).\nconst url = 'http://a'; /* Due (C6)\n * or late (C7). */";
    expect(faults([file('core/src/circuit/a.ts', text), file('core/src/proof/b.ts', text)])).toEqual([
      'packages/core/src/circuit/a.ts:3: the comment cites C6 and C7. Cite the one rule that explains it most.',
    ]);
  });

  test('finds an import, of a type too, from a higher layer of core, and a file without a layer', () => {
    const found = faults([
      file('core/src/classify/a.ts', "import type { Session } from '../session-api.ts';\nimport { b } from './b.ts';"),
      file('core/src/telemetry/semconv.ts', "export { series } from './series.ts';"),
      file('core/src/report/c.ts', "import { Session } from '../session.ts';"),
      file('core/src/report/c.test.ts', "import { d } from '../index.ts';"),
      file('core/src/new-folder/e.ts'),
    ]);
    expect(found).toEqual([
      expect.stringMatching(
        /classify\/a\.ts: it imports packages\/core\/src\/session-api\.ts, which is in a higher layer/,
      ),
      expect.stringMatching(/semconv\.ts: it imports packages\/core\/src\/telemetry\/series\.ts/),
      expect.stringMatching(/new-folder\/e\.ts: it is in no layer of core\. Add/),
    ]);
  });
});

describe('biome.json and biome.cycles.json', () => {
  /** Each file's imports, and those of them that Biome must refuse, with the start of its message. */
  const FILES = {
    'packages/core/src/kernel.ts': {
      'Core imports no other package': ['@breakerbox/telemetry', '@breakerbox/telemetry/x', '../../telemetry/src/a.ts'],
      'The kernel imports nothing': ['./control/a.ts', './report/a.ts', './snapshot/a.ts', './scope/a.ts'],
      '': ['./telemetry/a.ts', './circuit/a.ts', '@opentelemetry/api'],
    },
    'packages/core/src/circuit/trip-policies/pure.ts': {
      'Core imports no other package': ['@breakerbox/cli'],
      'The kernel imports nothing': ['../../report/a.ts'],
      'This folder is pure': ['../../telemetry/spans.ts', '../../session.ts', '../../permit.ts'],
      '': ['../../telemetry/semconv.ts', '../../clock.ts', '../circuit.ts'],
    },
    'packages/core/src/report/report.ts': { '': ['../snapshot/a.ts', '../session.ts'] },
    'packages/telemetry/src/a.ts': {
      'Of the workspace': ['@breakerbox/instrumentation', '@breakerbox/cli/x', '../../core/src/a.ts'],
      '': ['@breakerbox/core', '@breakerbox/core/internal', './b.ts'],
    },
    'packages/cli/src/a.ts': { '': ['@breakerbox/fleet', '@breakerbox/core'] },
    'alerts/src/a.ts': { 'Alerts and dashboards': ['@breakerbox/telemetry'], '': ['@breakerbox/core'] },
    'dashboards/src/a.ts': { 'Alerts and dashboards': ['@breakerbox/cli'], '': ['@breakerbox/alerts'] },
  };
  const CYCLE = {
    'packages/core/src/one.ts': "import type { Two } from './two.ts';\nexport type One = Two;\n",
    'packages/core/src/two.ts': "import type { One } from './one.ts';\nexport type Two = { one: One };\n",
  };
  let folder = '';

  const put = (path, text) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };

  /** What Biome says of the folder, as `path:line` with the message. */
  const lint = (config, rule) => {
    const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
    const args = ['lint', `--config-path=${config}`, `--only=${rule}`, '--reporter=json', '--max-diagnostics=200', '.'];
    const { stdout } = spawnSync(process.execPath, [biome, ...args], { cwd: folder, encoding: 'utf8' });
    return JSON.parse(stdout).diagnostics.map(({ message, location }) => [location.path, location.start.line, message]);
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'breakerbox-layout-'));
    const config = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'));
    put('biome.json', JSON.stringify({ ...config, vcs: { enabled: false } }));
    put('biome.cycles.json', readFileSync(join(root, 'biome.cycles.json')));
    for (const [path, imports] of Object.entries(FILES)) put(path, linesOf(imports).join('\n'));
    for (const [path, text] of Object.entries(CYCLE)) put(path, text);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('holds the directions of imports', () => {
    const found = lint('biome.json', 'style/noRestrictedImports');
    for (const [path, imports] of Object.entries(FILES)) {
      const expected = Object.entries(imports).flatMap(([start, from]) => from.map(() => start));
      const of = (line) => found.find(([where, at]) => where === path && at === line)?.[2] ?? '';
      expect(expected.map((start, index) => of(index + 1).slice(0, start.length || 200))).toEqual(expected);
    }
  });

  test('finds a cycle of type imports', () => {
    const found = lint('biome.cycles.json', 'suspicious/noImportCycles');
    expect(found.map(([path]) => path).sort()).toEqual(Object.keys(CYCLE));
  });
});
