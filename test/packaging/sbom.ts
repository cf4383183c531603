/**
 * `node test/packaging/sbom.ts FOLDER`: writes `sbom.cdx.json` there, the bill of materials (CycloneDX) of the tarballs in the folder. npm
 * lists what they install, and `dist/BUNDLED.txt` what their own files contain.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runCommand } from '../newcomer/commands.ts';
import { NPM_QUIET } from './nodes.ts';
import { published } from './published.ts';

interface Component {
  readonly 'bom-ref': string;
  readonly type: 'library';
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly unknown[];
  readonly scope: 'required';
}

interface Bill {
  components: { readonly 'bom-ref': string; readonly externalReferences?: readonly { readonly type: string }[] }[];
}

/** A line of `BUNDLED.txt`: `@opentelemetry/api 1.10.0, Apache-2.0`. */
const componentOf = (line: string, owner: string): readonly Component[] => {
  const [, name, version, license] = /^(\S+) (\S+), (\S+)$/.exec(line) ?? [];
  if (name === undefined || version === undefined) return [];
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const licenses = [{ license: { id: license } }];
  return [
    { 'bom-ref': `${owner}|${name}@${version}`, type: 'library', name, version, purl, licenses, scope: 'required' },
  ];
};

const [given = ''] = process.argv.slice(2);
if (given === '') throw new Error('Say where the tarballs are: node test/packaging/sbom.ts FOLDER');
const folder = resolve(given);
const tarballs = (await readdir(folder)).filter((name) => name.endsWith('.tgz')).map((name) => join(folder, name));
const { version } = published[0]?.manifest ?? { version: '0.0.0' };
const project = await mkdtemp(join(tmpdir(), 'breakerbox-sbom-'));
try {
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({ name: 'breakerbox-release', version, private: true }),
  );
  await runCommand('npm', ['install', ...NPM_QUIET, '--ignore-scripts', ...tarballs], project);
  const bill = JSON.parse(await runCommand('npm', ['sbom', '--sbom-format=cyclonedx'], project)) as Bill;
  for (const { name } of published) {
    const list = await readFile(join(project, 'node_modules', name, 'dist/BUNDLED.txt'), 'utf8').catch(() => '');
    const contained = list.split('\n').flatMap((line) => componentOf(line, name));
    const own = bill.components.find((one) => one['bom-ref'].startsWith(`${name}@`));
    if (own === undefined) throw new Error(`npm sbom does not list ${name}.`);
    // npm wrote where the tarball was on this machine.
    const references = own.externalReferences?.filter(({ type }) => type !== 'distribution');
    Object.assign(own, { externalReferences: references, ...(contained.length > 0 && { components: contained }) });
  }
  await writeFile(join(folder, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`);
} finally {
  await rm(project, { recursive: true, force: true });
}
