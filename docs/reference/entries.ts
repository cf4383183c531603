import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** The sources of what can be imported from the packages, by names such as `@breakerbox/core/report`. Paths are from the root. */
export const ENTRIES: ReadonlyMap<string, string> = new Map(
  globSync('packages/{core,instrumentation,telemetry,control,fleet}/package.json', { cwd: ROOT }).flatMap((path) => {
    const { name, exports }: Manifest = JSON.parse(readFileSync(`${ROOT}/${path}`, 'utf8'));
    return Object.entries(exports).flatMap(([subpath, { 'breakerbox-source': source }]): [string, string][] =>
      source === undefined ? [] : [[name + subpath.slice(1), path.replace('package.json', source.slice(2))]],
    );
  }),
);
