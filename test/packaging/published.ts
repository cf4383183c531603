import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../newcomer/commands.ts';

/** An entry of `exports`: a file for each condition. */
export type Entry = Readonly<Record<string, string>>;

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly license?: string;
  readonly homepage?: string;
  readonly bugs?: string;
  readonly repository?: { readonly url: string; readonly directory?: string };
  readonly engines: { readonly node: string };
  readonly main?: string;
  readonly types?: string;
  readonly typesVersions?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  readonly exports?: Readonly<Record<string, Entry>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly publishConfig?: { readonly access: string; readonly provenance: boolean };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** A package that a release publishes: every package of the workspace that isn't private. */
export interface Published {
  readonly name: string;
  /** From the root, such as `packages/core`. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** A file of the workspace that is JSON. */
export const readJson = <T>(...path: string[]): T => JSON.parse(readFileSync(join(...path), 'utf8')) as T;

const folders = (): readonly string[] => {
  const { packages } = parse(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8')) as { packages: string[] };
  return packages.flatMap((one) => {
    if (!one.endsWith('/*')) return [one];
    const above = one.slice(0, -2);
    return readdirSync(join(ROOT, above), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${above}/${name}`);
  });
};

/** Each after what it depends on: that is the order in which they are built. */
const inOrder = (packages: readonly Published[], done: readonly Published[] = []): readonly Published[] => {
  if (packages.length === 0) return done;
  // The command bundles what it takes, so that it asks for nothing.
  const waits = ({ manifest }: Published): boolean =>
    packages.some(({ name }) => ({ ...manifest.devDependencies, ...manifest.dependencies })[name] !== undefined);
  const ready = packages.filter((one) => !waits(one));
  if (ready.length === 0) throw new Error(`They depend on each other: ${packages.map(({ name }) => name).join(', ')}`);
  return inOrder(packages.filter(waits), [...done, ...ready]);
};

/** The manifest itself, for tools that look up a version: a file in `exports` without code. */
export const OWN_MANIFEST = './package.json';

const entriesAlone = ({ exports, ...manifest }: Manifest): Manifest =>
  exports === undefined
    ? manifest
    : { ...manifest, exports: Object.fromEntries(Object.entries(exports).filter(([name]) => name !== OWN_MANIFEST)) };

/** All that a release publishes, each after what it depends on. */
export const published: readonly Published[] = inOrder(
  folders()
    .filter((folder) => existsSync(join(ROOT, folder, 'package.json')))
    .map((folder) => ({ folder, manifest: entriesAlone(readJson<Manifest>(ROOT, folder, 'package.json')) }))
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ folder, manifest }) => ({ name: manifest.name, folder, manifest })),
);

/** What a user imports, such as `@breakerbox/telemetry/register`. */
export const entriesOf = ({ name, manifest }: Published): readonly string[] =>
  Object.keys(manifest.exports ?? {}).map((one) => name + one.slice(1));

/** The least Node of each major version that `engines` admits. */
export const leastNodes = ({ manifest }: Published): readonly string[] =>
  manifest.engines.node.match(/\d+\.\d+\.\d+/g) ?? [];
