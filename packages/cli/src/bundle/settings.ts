import { readFile } from 'node:fs/promises';
import {
  checkedLevels,
  checkSettings,
  DEFAULT_SETTINGS,
  type Level,
  RuleOptionsError,
  type RuleSettings,
  type SettingDoc,
  settingDocs,
} from '@breakerbox/alerts';
import type { ConfigIssue } from '@breakerbox/core';
import { nearestFirst } from '@breakerbox/core/internal';
import { parseAllDocuments, type YAMLParseError, type YAMLWarning } from 'yaml';
import { plainTable } from '../plain-table.ts';

/** Settings that differ from the default, or what is wrong with them. */
export interface ReadSettings {
  readonly settings: Partial<RuleSettings>;
  /** Labels of the targets that tell installations apart. */
  readonly levels: readonly Level[] | undefined;
  readonly issues: readonly ConfigIssue[];
}

/** Not a threshold, but set with them: `--set levels=namespace,cluster`, or a list in the file. */
const LEVELS_NAME = 'levels';

type Name = keyof RuleSettings;
/** A value, and the flag or file that set it. */
interface Given {
  readonly value: unknown;
  readonly path: string;
}

const NAMES = Object.keys(DEFAULT_SETTINGS);
const isName = (name: string): name is Name => Object.hasOwn(DEFAULT_SETTINGS, name);

/**
 * Reads `--settings FILE` and each `--set name=value`, which overrides the file.
 * @param file YAML, or JSON, which is YAML too
 */
export const readSettings = async (file: string | undefined, set: readonly string[]): Promise<ReadSettings> => {
  const issues: ConfigIssue[] = [];
  const given = new Map<Name, Given>();
  let levels: readonly Level[] | undefined;
  const take = (name: string, value: unknown, path: string): void => {
    if (name === LEVELS_NAME) levels = levelsOf(value, path, issues);
    else if (isName(name)) given.set(name, { value, path });
    else
      issues.push({
        path,
        message: `there is no setting ${JSON.stringify(name)}. The settings are ${nearestFirst(name, NAMES).join(', ')}`,
      });
  };
  if (file !== undefined) {
    const found = await settingsIn(file);
    issues.push(...found.issues);
    for (const [name, value] of Object.entries(found.content)) take(name, value, `${file}: ${name}`);
  }
  for (const text of set) {
    const [, name, value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined) {
      issues.push({
        path: `--set ${text}`,
        message: 'has no =. Write a name and a value, as in --set openFor=10m',
      });
    } else take(name.trim(), typed(name.trim(), value.trim()), `--set ${name.trim()}`);
  }
  return { ...checked(given, issues), levels };
};

const levelsOf = (value: unknown, path: string, issues: ConfigIssue[]): readonly Level[] | undefined => {
  const names = (Array.isArray(value) ? value.map(String) : String(value).split(',')).map((one) => one.trim());
  try {
    const levels = checkedLevels(names.filter((one) => one !== ''));
    return levels.length === 0 ? undefined : levels;
  } catch (error) {
    if (!(error instanceof RuleOptionsError)) throw error;
    issues.push(...error.issues.map(({ message }) => ({ path, message: message.replace(/\.$/, '') })));
    return undefined;
  }
};

/** Of the same type as the setting's default: a number if the default is one and the text is a number. */
const typed = (name: string, text: string): string | number =>
  isName(name) && typeof DEFAULT_SETTINGS[name] === 'number' && text !== '' && Number.isFinite(Number(text))
    ? Number(text)
    : text;

const checked = (given: ReadonlyMap<Name, Given>, issues: readonly ConfigIssue[]): Omit<ReadSettings, 'levels'> => {
  const values = Object.fromEntries([...given].map(([name, { value }]) => [name, value])) as Partial<RuleSettings>;
  try {
    checkSettings(values);
  } catch (error) {
    if (!(error instanceof RuleOptionsError)) throw error;
    const where = (path: string): string => {
      const name = path.replace(/^settings\./, '');
      return (isName(name) ? given.get(name)?.path : undefined) ?? path;
    };
    return {
      settings: {},
      issues: [...issues, ...error.issues.map(({ path, message }) => ({ path: where(path), message }))],
    };
  }
  const own = NAMES.filter(isName).filter((name) => given.has(name) && values[name] !== DEFAULT_SETTINGS[name]);
  return { settings: Object.fromEntries(own.map((name) => [name, values[name]])), issues };
};

interface FoundSettings {
  readonly content: Readonly<Record<string, unknown>>;
  readonly issues: readonly ConfigIssue[];
}

const settingsIn = async (file: string): Promise<FoundSettings> => {
  const wrong = (message: string): FoundSettings => ({
    content: {},
    issues: [{ path: `--settings ${file}`, message }],
  });
  const text = await readFile(file, 'utf8').catch((error: unknown) =>
    wrong(`can't be read: ${error instanceof Error ? error.message : String(error)}`),
  );
  if (typeof text !== 'string') return text;
  const documents = parseAllDocuments(text);
  const [document, second] = documents;
  if (document === undefined || 'empty' in documents) return { content: {}, issues: [] };
  if (second !== undefined) return wrong('has several YAML documents (a line of ---). Put all settings in one');
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) return wrong(faultOf(fault));
  let content: unknown;
  try {
    content = document.toJS();
  } catch (error) {
    return wrong(`can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (content === null) return { content: {}, issues: [] };
  if (Array.isArray(content))
    return wrong('contains a list. Write one setting per line, without a dash, as in openFor: 10m');
  if (typeof content === 'object') return { content: { ...content }, issues: [] };
  return wrong(`contains only ${JSON.stringify(content)}. Write one setting per line, as in openFor: 10m`);
};

const faultOf = ({ code, message, linePos }: YAMLParseError | YAMLWarning): string => {
  const where = linePos === undefined ? '' : ` in line ${linePos[0].line}`;
  return code === 'DUPLICATE_KEY'
    ? `has a setting twice${where}. Remove one of them`
    : `can't be read${where}: ${message.split(/ at line |\n/)[0]}. Write one setting per line, as in openFor: 10m`;
};

/** Every setting, as `--list-settings --json` prints it. */
export const listedSettings = (): readonly SettingDoc[] => settingDocs();

/** Every setting as a table. */
export const renderSettings = (columns: number): string => {
  const rows = settingDocs().map((doc) => [doc.name, String(doc.default), doc.unit, doc.meaning]);
  return `${plainTable([['name', 'default', 'unit', 'meaning'], ...rows], columns)}\n`;
};
