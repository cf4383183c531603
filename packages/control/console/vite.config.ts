import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** The page of the console. The content security policy permits no inline script, no inline style and no `data:` address. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './', // A proxy may serve the console below a path.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/page',
    license: { fileName: 'BUNDLED.md' },
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
});
