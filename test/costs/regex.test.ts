import { describe, expect, test } from 'vitest';
import { growsTooFast } from './growth.ts';
import { hostileTexts } from './hostile.ts';
import { findRegexes, patternsMadeBy, sourceOf } from './regex-sources.ts';

process.env.RECHECK_SYNC_BACKEND = 'pure'; // Read when recheck is loaded. Its other backends are binaries.
const { checkSync } = await import('recheck');

/** Milliseconds for one expression. */
const TIMEOUT_MS = 20_000;

/** The same for the large ones of the classifier, most of which recheck decides in no time. Their inputs are limited. */
const SHORT_TIMEOUT_MS = 100;

/** Milliseconds for all of them. */
const TEST_MS = 400_000;

/** Most CPU milliseconds of a hostile text as long as the limit. */
const MOST_MS = 100;

/** An input limit that the code names. */
interface Limit {
  readonly characters: number;
  /** The name of the constant, and the file in which it is. */
  readonly name: string;
  readonly file: string;
}

const TEXT_LIMIT: Limit = { characters: 4_096, name: 'TEXT_LIMIT', file: 'packages/core/src/safely.ts' };

const MODEL_ERROR_LIMIT: Limit = {
  characters: 4_000,
  name: 'LONGEST',
  file: 'packages/instrumentation/src/models/model-error-facts.ts',
};

/** Files whose expressions read at most so many characters of a text from outside. */
const LIMITED: Readonly<Record<string, Limit>> = {
  'packages/core/src/classify/': TEXT_LIMIT,
  'packages/instrumentation/src/classify/': TEXT_LIMIT,
  'packages/instrumentation/src/models/model-error-facts.ts': TEXT_LIMIT,
  'packages/instrumentation/src/models/model-history.ts': MODEL_ERROR_LIMIT,
  'packages/instrumentation/src/models/model-verdict.ts': MODEL_ERROR_LIMIT,
  'packages/instrumentation/src/models/model-wait.ts': {
    characters: 64,
    name: 'LONGEST_WAIT',
    file: 'packages/instrumentation/src/models/model-wait.ts',
  },
  'packages/instrumentation/src/claude-agent/result-text.ts': {
    characters: 32_000,
    name: 'LONGEST_ERROR',
    file: 'packages/instrumentation/src/claude-agent/result-text.ts',
  },
  'packages/cli/src/replay/readers/otlp.ts': {
    characters: 512,
    name: 'LONGEST_STATE',
    file: 'packages/cli/src/replay/readers/otlp.ts',
  },
};

/** Files whose expressions read only what this repository, the developer or the user at the terminal writes. */
const OWN_TEXT: Readonly<Record<string, string>> = {
  'dashboards/': 'queries of this repository, when the dashboards are made',
  'alerts/': 'rules of this repository, and the flags of breakerbox bundle',
  'packages/cli/src/bundle/': 'the flags of breakerbox bundle. An expression in a flag is only checked and never run',
  'packages/demo/src/': 'texts and flags of the demo',
  'packages/core/src/report/lines.ts': 'a number, and a text of this package',
  'packages/core/src/checks/names.ts':
    'names of settings, which are shortened to 60 characters before they are compared',
  'packages/core/src/warnings/warnings.ts': "the first lines of this package's own stack",
  'packages/instrumentation/src/groups.ts': 'the option prefix',
  'packages/instrumentation/src/register-config.ts': 'names of environment variables',
  'packages/instrumentation/src/system-note.ts': "core's own note",
  'packages/telemetry/src/known-secrets.ts': 'secrets of the environment, each as literal text',
};

/** Files with expressions that recheck cannot decide. Their growth is measured. */
const MEASURED = ['packages/telemetry/src/diag-logger.ts', 'packages/instrumentation/src/model-output.ts'];

/** Files whose `new RegExp` runs while they are loaded, from rows of their own. */
const MADE_AT_LOAD = [
  'packages/core/src/classify/codes.ts',
  'packages/instrumentation/src/classify/signs.ts',
  'packages/instrumentation/src/classify/unexplained.ts',
  'packages/instrumentation/src/classify/words.ts',
  'packages/instrumentation/src/models/model-history.ts',
];

const entryOf = <Value>(table: Readonly<Record<string, Value>>, file: string): Value | undefined =>
  Object.entries(table).find(([prefix]) => file.startsWith(prefix))?.[1];

const found = findRegexes();
const literals = found.flatMap(({ file, regex }) => (regex ? [{ file, ...regex }] : []));
const made = (
  await Promise.all(MADE_AT_LOAD.map(async (file) => (await patternsMadeBy(file)).map((regex) => ({ file, ...regex }))))
).flat();

describe('E2: a regular expression takes linear time, or its input is limited', () => {
  test('every new RegExp is checked when its module makes it, or reads no text from outside', () => {
    const files = new Set(found.flatMap(({ file, regex }) => (regex ? [] : [file])));
    const unknown = [...files].filter((file) => !MADE_AT_LOAD.includes(file) && entryOf(OWN_TEXT, file) === undefined);
    expect(unknown).toEqual([]);
    expect(literals.length).toBeGreaterThan(100);
    expect(made.length).toBeGreaterThan(40);
  });

  test.each(Object.values(LIMITED))(
    'the limit $name of $characters characters is in $file',
    ({ characters, name, file }) => {
      expect(sourceOf(file).replaceAll('_', '')).toContain(`${name.replaceAll('_', '')} = ${characters}`);
    },
  );

  test('those that recheck cannot decide take linear time', { timeout: TEST_MS }, async () => {
    const texts = [
      (size: number) => `stale: ${'retrieved 1 '.repeat(size / 12)}`,
      ...hostileTexts,
      (size: number) => 'Error: 1e'.repeat(size / 9),
      (size: number) => `Error: ${'1'.repeat(size)}`,
    ];
    for (const { file, pattern, flags } of literals.filter((one) => MEASURED.includes(one.file))) {
      for (const make of texts) {
        const prepare = (size: number) => {
          const text = make(size);
          return () => new RegExp(pattern, flags).test(text);
        };
        expect(await growsTooFast(prepare, 4_000), `${file}: ${pattern}`).toBeUndefined();
      }
    }
  });

  test('recheck finds each other expression safe', { timeout: TEST_MS }, () => {
    const elsewhere = [...literals, ...made].filter(
      ({ file }) =>
        entryOf(LIMITED, file) === undefined && entryOf(OWN_TEXT, file) === undefined && !MEASURED.includes(file),
    );
    const unsafe = elsewhere.filter(
      ({ pattern, flags }) => checkSync(pattern, flags, { timeout: TIMEOUT_MS }).status !== 'safe',
    );
    expect(unsafe.map(({ file, pattern }) => `${file}: ${pattern}`)).toEqual([]);
  });

  test('the limited ones are fast for hostile texts as long as the limit, and for the attacks that recheck finds', {
    timeout: TEST_MS,
  }, async () => {
    const slow: string[] = [];
    for (const { file, pattern, flags } of [...literals, ...made]) {
      const limit = entryOf(LIMITED, file);
      if (limit === undefined) continue;
      const checked = checkSync(pattern, flags, { timeout: SHORT_TIMEOUT_MS });
      if (checked.status === 'safe') continue;
      const attack = checked.status === 'vulnerable' ? [checked.attack.string] : [];
      const texts = [...attack, ...hostileTexts.map((make) => make(limit.characters))];
      for (const text of texts) {
        const start = process.cpuUsage();
        new RegExp(pattern, flags.replace('y', '')).test(text.slice(0, limit.characters));
        const ms = process.cpuUsage(start).user / 1_000;
        if (ms > MOST_MS) slow.push(`${file}: ${pattern}: ${Math.round(ms)} ms`);
      }
    }
    expect(slow).toEqual([]);
  });

  test('the measurement finds quadratic work', async () => {
    const quadratic = (size: number) => () => /a*b$/.test('a'.repeat(size));
    expect(await growsTooFast(quadratic, 4_000)).toMatch(/ms$/);
  });
});
