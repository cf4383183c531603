import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** A file that the page requests. */
export interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

/** The page and its files, by path; undefined for a path without a file. Nothing comes from the network. */
export type Assets = (path: string) => Promise<Asset | undefined>;

const from = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const resolve = createRequire(import.meta.url).resolve;
const folderOf = (name: string): string => dirname(resolve(`${name}/package.json`));

/** The addresses at which @grafana/ui requests fonts, and the files to answer with: Inter, which Grafana uses. */
const FONTS: Readonly<Record<string, string>> = {
  '/public/fonts/inter/Inter-Regular.woff2': 'inter-latin-400-normal.woff2',
  '/public/fonts/inter/Inter-Medium.woff2': 'inter-latin-500-normal.woff2',
};
const ICONS = '/public/build/img/';

const font = (family: string, weight: number, path: string): string =>
  `@font-face{font-family:${family};font-weight:${weight};src:url(${path}) format('woff2')}`;

const HTML = `<!doctype html><html><head><meta charset="utf-8"><title>Preview</title><link rel="stylesheet" href="/page.css"><style>${[
  font('Inter', 400, '/public/fonts/inter/Inter-Regular.woff2'),
  font('Inter', 500, '/public/fonts/inter/Inter-Medium.woff2'),
].join('')}</style></head><body><div id="root"></div><script type="module" src="/page.js"></script></body></html>`;

/** Bundles the page with Grafana's libraries; takes a second or two. */
export const bundle = async (): Promise<Assets> => {
  const { outputFiles } = await build({
    entryPoints: { page: from('../page/main.tsx') },
    outdir: from('../out'),
    write: false,
    bundle: true,
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
    // The code editor is big, and no panel uses it.
    alias: { 'monaco-editor': from('../page/nothing.ts'), '@monaco-editor/react': from('../page/nothing.ts') },
    logLevel: 'error',
  });
  const output = (end: string): Buffer =>
    Buffer.from(outputFiles.find(({ path }) => path.endsWith(end))?.contents ?? new Uint8Array());
  const own: Readonly<Record<string, Asset>> = {
    '/': { type: 'text/html', body: Buffer.from(HTML) },
    '/page.js': { type: 'text/javascript', body: output('page.js') },
    '/page.css': { type: 'text/css', body: output('page.css') },
  };
  const icons = join(folderOf('@grafana/ui'), 'dist/public/img');
  const fonts = join(folderOf('@fontsource/inter'), 'files');
  return async (path) => {
    const named = FONTS[path];
    if (own[path] !== undefined) return own[path];
    if (named !== undefined) return { type: 'font/woff2', body: await readFile(join(fonts, named)) };
    const icon = path.startsWith(ICONS) ? normalize(join(icons, path.slice(ICONS.length))) : '';
    if (!icon.startsWith(icons) || !icon.endsWith('.svg')) return undefined;
    return readFile(icon).then(
      (body) => ({ type: 'image/svg+xml', body }),
      () => undefined,
    );
  };
};
