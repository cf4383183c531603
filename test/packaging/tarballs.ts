/** `node test/packaging/tarballs.ts FOLDER`: puts what a release publishes there, and `order.txt`: name, version and file of each. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { packAll } from '../newcomer/pack.ts';
import { published } from './published.ts';

const [folder = ''] = process.argv.slice(2);
if (folder === '') throw new Error('Say into which folder: node test/packaging/tarballs.ts FOLDER');
const tarballs = await packAll();
await mkdir(folder, { recursive: true });
const lines: string[] = [];
for (const { name, manifest } of published) {
  const file = tarballs.get(name) ?? '';
  await copyFile(file, join(folder, basename(file)));
  lines.push(`${name} ${manifest.version} ${basename(file)}\n`);
}
await writeFile(join(folder, 'order.txt'), lines.join(''));
