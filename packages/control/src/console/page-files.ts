import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of the page. */
export interface PageFile {
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** In the package the code is in `dist`, in the repository in `src/console`. */
const FOLDERS = ['./page/', '../../dist/page/'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/**
 * The files of the page by their paths. A request chooses among these, and never names a file of the disk.
 *
 * @throws Error if the page is not built.
 */
export const readPage = (
  folder: string | undefined = FOLDERS.find((one) => existsSync(join(one, 'index.html'))),
): ReadonlyMap<string, PageFile> => {
  if (folder === undefined || !existsSync(join(folder, 'index.html')))
    throw new Error('the page of the console is not built. Run: npm run build in packages/control');
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.flatMap((name): [string, PageFile][] => {
    const type = TYPES[extname(name)];
    if (type === undefined) return [];
    const path = `/${name.replaceAll('\\', '/')}`;
    return [[path === '/index.html' ? '/' : path, { type, body: new Uint8Array(readFileSync(join(folder, name))) }]];
  });
  return new Map(files);
};
