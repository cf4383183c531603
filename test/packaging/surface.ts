import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  type IExtractorMessagesConfig,
} from '@microsoft/api-extractor';
import { type Entry, type Published, published } from './published.ts';

/** A report of what one entry of a package offers. */
export interface SurfaceReport {
  /** From the root, such as `packages/core/api/index.api.md`. */
  readonly path: string;
  readonly text: string;
}

/** `./ai-sdk` has `ai-sdk.api.md`, and the package itself `index.api.md`. */
const reportName = (entry: string): string => (entry === '.' ? 'index' : entry.slice(2));

/** Entries of a package that it says others must not build upon. */
const INTERNAL = new Set(['./internal']);

/**
 * What every entry of every package offers, read in the types of a build in `workspace` by API Extractor, whose own TypeScript understands
 * them: TypeScript 7 has no JavaScript API.
 */
export const surfaceReports = (workspace: string): readonly SurfaceReport[] => {
  const work = join(workspace, 'api');
  rmSync(work, { recursive: true, force: true });
  return published.flatMap((one) => surfacesOf(one, workspace, work));
};

const surfacesOf = (one: Published, workspace: string, work: string): readonly SurfaceReport[] => {
  const configs = Object.entries(one.manifest.exports ?? {})
    .filter(([entry]) => !INTERNAL.has(entry))
    .map(([entry, conditions]) => configOf(one, entry, conditions, { workspace, work }));
  const [first, ...others] = configs;
  if (first === undefined) return [];
  // One program for all entries of a package: they share nearly all of what the compiler has to read.
  const compilerState = CompilerState.create(first, {
    additionalEntryPoints: others.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath),
  });
  return configs.map((config) => {
    extract(config, compilerState);
    const file = config.reportConfigs[0]?.fileName ?? '';
    return { path: `${one.folder}/api/${file}`, text: readFileSync(join(config.reportFolder, file), 'utf8') };
  });
};

const configOf = (
  { folder }: Published,
  entry: string,
  { types = '' }: Entry,
  { workspace, work }: { readonly workspace: string; readonly work: string },
): ExtractorConfig => {
  const project = join(workspace, folder);
  const reportFolder = join(work, folder);
  mkdirSync(reportFolder, { recursive: true });
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: project,
      mainEntryPointFilePath: join(project, types),
      compiler: { overrideTsconfig: COMPILER },
      apiReport: {
        enabled: true,
        reportFileName: reportName(entry),
        reportFolder,
        reportTempFolder: join(work, 'temp'),
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: SILENT,
      newlineKind: 'lf',
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(project, 'package.json'),
  });
};

/** @throws Error when it can't read the types */
const extract = (config: ExtractorConfig, compilerState: CompilerState): void => {
  const said: string[] = [];
  Extractor.invoke(config, {
    compilerState,
    localBuild: true,
    messageCallback: (message) => {
      if (message.logLevel === ExtractorLogLevel.Error) said.push(message.text);
      message.handled = true;
    },
  });
  if (said.length > 0) throw new Error(`API Extractor can't read ${config.mainEntryPointFilePath}: ${said.join('; ')}`);
};

const COMPILER = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    moduleResolution: 'nodenext',
    lib: ['es2023', 'dom'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
  },
};

/** What it would say of our comments is Biome's and the reader's business: the report is about names and types. */
const SILENT: IExtractorMessagesConfig = {
  compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
  extractorMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
  tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
};
