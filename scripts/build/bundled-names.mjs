// The licences of carried packages ask for their names, and most of them for their texts.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const NAMES = 'dist/BUNDLED.txt';
const TEXTS = 'dist/LICENSES.txt';
const RULE = `\n${'='.repeat(78)}\n`;

/** A package that is carried: `name version, licence`, and the texts of its licence and notice. */
const carried = (folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)(?:[.-]|$)/i.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim());
  if (texts.length === 0)
    throw new Error(`${name} ${version} has no text of its licence in ${folder}. Add it by hand.`);
  return { line: `${name} ${version}, ${license}`, text: texts.join('\n\n') };
};

/**
 * What the `dist` of another package carries.
 * @param folder of that package
 */
export const carriedIn = (folder) => {
  const file = join(folder, TEXTS);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split(RULE)
    .slice(1)
    .flatMap((section) => {
      const [lines = '', ...text] = section.trim().split('\n\n');
      return lines.split('\n').map((line) => ({ line, text: text.join('\n\n') }));
    });
};

/**
 * Writes `dist/BUNDLED.txt`, which test/packaging/sbom.ts reads, and `dist/LICENSES.txt`, where packages with the same text share it.
 * @param modules the files whose code is in `dist`
 * @param more what others of them carry
 */
export const writeNames = (modules, more = []) => {
  const folders = modules.flatMap((file) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  const all = new Map([...[...new Set(folders)].map(carried), ...more].map((one) => [one.line, one.text]));
  const lines = [...all.keys()].toSorted();
  const byText = Map.groupBy(lines, (line) => all.get(line));
  const sections = [...byText].map(([text, same]) => `${RULE}${same.join('\n')}\n\n${text}\n`);
  writeFileSync(NAMES, `Code of these packages is in this folder:\n\n${lines.map((line) => `${line}\n`).join('')}`);
  writeFileSync(TEXTS, `Licences of the packages whose code is in this folder.\n${sections.join('')}`);
};
