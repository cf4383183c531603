import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCapabilitiesYaml } from '@breakerbox/instrumentation/capabilities';
import { loadConfig } from '@breakerbox/instrumentation/config';
import { parseAllDocuments } from 'yaml';
import type { Fence } from './fences.ts';
import { checkPromql } from './promql.ts';
import { faultInVariables } from './variables.ts';

/** What is wrong with a block of data; undefined where nothing is. */
export const faultIn = async ({ language, code }: Fence, folder: string): Promise<string | undefined> => {
  try {
    if (language === 'promql') checkPromql(code);
    else if (language === 'mermaid') checkMermaid(code);
    else if (language === 'yaml') await checkYaml(code, folder);
    else return `is in '${language}', which docs/snippets/others.ts doesn't know how to check.`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return undefined;
};

const checkSettings = async (code: string, folder: string): Promise<void> => {
  const file = join(folder, 'breakerbox.yaml');
  await writeFile(file, code);
  loadConfig(file);
};

const checkYaml = async (code: string, folder: string): Promise<void> => {
  const objects = parseAllDocuments(code).map((one) => one.toJS() as object);
  const [data = {}] = objects;
  const keys = Object.keys(data);
  if (keys.includes('kind')) return checkObjects(objects, folder);
  if (keys.some((key) => ['global', 'scrape_configs', 'rule_files', 'alerting'].includes(key)))
    return checkPrometheus(code, folder);
  if (keys.includes('defaults') || keys.includes('systemic')) return checkSettings(code, folder);
  if (keys.includes('tools')) return void parseCapabilitiesYaml(code, 'capabilities.yaml');
  if (keys.includes('env')) return checkVariables(data as Container);
  throw new Error(`has ${keys.join(', ')}, of which docs/snippets/others.ts doesn't know what they configure.`);
};

/** Objects of Kubernetes: that each says what it is, and settings in a ConfigMap. Not its whole schema. */
const checkObjects = async (objects: readonly KubernetesObject[], folder: string): Promise<void> => {
  for (const { apiVersion, kind, metadata, data } of objects) {
    if (apiVersion === undefined || kind === undefined || metadata?.name === undefined)
      throw new Error('has an object without apiVersion, kind or metadata.name.');
    const settings = data?.['breakerbox.yaml'];
    if (settings !== undefined) await checkSettings(settings, folder);
  }
};

interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string };
  readonly data?: Readonly<Record<string, string>>;
}

const checkPrometheus = async (code: string, folder: string): Promise<void> => {
  const path = join(folder, 'prometheus.yml');
  await writeFile(path, code);
  await new Promise<void>((resolve, reject) => {
    execFile('promtool', ['check', 'config', path], (error, stdout, stderr) =>
      error ? reject(new Error(`${stdout}${stderr}`)) : resolve(),
    );
  });
};

interface Container {
  readonly env: readonly { readonly name?: unknown; readonly value?: unknown }[];
}

/** Variables of a container are those of the environment: other names would be misspelt. */
const checkVariables = ({ env }: Container): void => {
  const wrong = env.filter(({ name, value }) => typeof name !== 'string' || typeof value !== 'string');
  if (wrong.length > 0)
    throw new Error(`has ${JSON.stringify(wrong[0])}; an entry needs a name, and a value that is a text.`);
  const fault = faultInVariables(env.map(({ name }) => String(name)));
  if (fault !== undefined) throw new Error(fault);
};

const DIAGRAMS: Readonly<Record<string, RegExp>> = {
  flowchart:
    /^(?:flowchart (?:LR|TD|TB)|\s+(?:subgraph|end|direction|[\w-]+(?:[[({].*[\])}])?(?:\s+(?:-->|-\.->|--|-\.|==>).*)?).*)$/,
  'stateDiagram-v2':
    /^(?:stateDiagram-v2|\s+(?:direction \w+|\[\*\] --> \w+.*|\w+ --> (?:\w+|\[\*\]).*|note .*|end note|\w+ : .*))$/,
  sequenceDiagram:
    /^(?:sequenceDiagram|\s+(?:participant|actor|note|Note|loop|alt|else|opt|end)\b.*|\s+\w+-?->>[+-]?\w+: .*)$/,
};

/** Not the whole grammar: that each line is of a kind that the diagram has, and that brackets and quotes close. */
const checkMermaid = (code: string): void => {
  const [kind = ''] = /^[\w-]+/.exec(code) ?? [];
  const line = DIAGRAMS[kind];
  if (!line) throw new Error(`is a diagram of a kind that docs/snippets/others.ts doesn't know: ${kind}`);
  for (const one of code.trimEnd().split('\n')) {
    if (!line.test(one)) throw new Error(`has a line that no ${kind} has: ${one}`);
    if ((one.split('"').length - 1) % 2 === 1) throw new Error(`has a quote that isn't closed: ${one}`);
    if (!isBalanced(one.replaceAll(/"[^"]*"/g, ''))) throw new Error(`has a bracket that isn't closed: ${one}`);
  }
};

const CLOSES: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

const isBalanced = (text: string): boolean => {
  const open: string[] = [];
  for (const one of text) {
    if ('([{'.includes(one)) open.push(one);
    else if (one in CLOSES && open.pop() !== CLOSES[one]) return false;
  }
  return open.length === 0;
};
