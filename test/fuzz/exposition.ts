import type { SeriesReader } from '@breakerbox/core/internal';
import { openSeries } from '@breakerbox/core/internal';
import { scrapeText } from '../../packages/telemetry/src/scrape-text.ts';

const NOTHING_ELSE = { resourceMetrics: { resource: { attributes: {} }, scopeMetrics: [] }, errors: [] };

const definitions = openSeries({ insteadOfSdk: false, exemplars: false });
const COUNTER = definitions.metrics().find(({ name }) => name === 'breakerbox.calls') ?? definitions.metrics()[0];
definitions.close();

/** What `/metrics` prints for one counter with a series for each tool. */
export const expositionOf = async (tools: readonly string[]): Promise<string> => {
  if (COUNTER === undefined) throw new Error('Breakerbox has no metrics.');
  const reader: SeriesReader = {
    ...definitions,
    retireIdle: () => undefined,
    metrics: () => [COUNTER],
    numbers: () => tools.map((tool, value) => ({ attributes: { 'gen_ai.tool.name': tool }, value })),
    histograms: () => [],
  };
  const { exporter, render } = scrapeText(reader);
  exporter.setMetricProducer({ collect: async () => NOTHING_ELSE } as unknown as Parameters<
    typeof exporter.setMetricProducer
  >[0]);
  return [await render()].flat().join('');
};

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\', '"': '"', n: '\n' };

/** A label's value and the position after its closing quote, read one character at a time. @throws Error if it is not closed. */
const readValue = (line: string, start: number): readonly [string, number] => {
  let value = '';
  for (let at = start; at < line.length; at += 1) {
    const character = line[at] ?? '';
    if (character === '"') return [value, at + 1];
    if (character === '\\') {
      at += 1;
      const escaped = ESCAPES[line[at] ?? ''];
      if (escaped === undefined) throw new Error(`unknown escape in ${line}`);
      value += escaped;
    } else value += character;
  }
  throw new Error(`a label is not closed in ${line}`);
};

const readNumber = (line: string, start: number): number => {
  const [, digits] = /^ (\d+)$/.exec(line.slice(start)) ?? [];
  if (digits === undefined) throw new Error(`no value at the end of ${line}`);
  return Number(digits);
};

/** The labels and the value of a sample, by the grammar of Prometheus' text format. Shares no code with the product. */
const readSample = (line: string): readonly [ReadonlyMap<string, string>, number] => {
  const labels = new Map<string, string>();
  const [, name = ''] = /^([a-zA-Z_:][\w:]*)[{ ]/.exec(line) ?? [];
  let at = name.length;
  if (name === '') throw new Error(`no name in ${line}`);
  if (line[at] === ' ') return [labels, readNumber(line, at)];
  at += 1;
  while (line[at] !== '}') {
    const label = /^[a-zA-Z_]\w*(?==")/.exec(line.slice(at, at + 100))?.[0];
    if (label === undefined || labels.has(label)) throw new Error(`no label, or one twice, at ${at} in ${line}`);
    const [value, end] = readValue(line, at + label.length + 2);
    labels.set(label, value);
    at = line[end] === ',' ? end + 1 : end;
  }
  return [labels, readNumber(line, at + 1)];
};

/** Each line of the input is the name of a tool. The text must give back the same names with the same values. */
export const checkExposition = async (input: string): Promise<void> => {
  const tools = [...new Set(Buffer.from(input).toString().split('\n'))]; // UTF-8 has no lone surrogates.
  const lines = (await expositionOf(tools)).split('\n');
  const samples = lines.filter((line) => line !== '' && !line.startsWith('#')).map(readSample);
  const found = samples.filter(([labels]) => labels.has('gen_ai_tool_name'));
  const names = found.map(([labels, value]) => [labels.get('gen_ai_tool_name'), value]);
  const expected = tools.map((tool, value) => [tool, value]);
  if (JSON.stringify(names) !== JSON.stringify(expected))
    throw new Error('the text names other tools than it was given');
  const odd = lines.filter((line) => line.startsWith('#') && !/^# (?:HELP|TYPE|UNIT) [\w:]+ /.test(line));
  if (odd.length > 0) throw new Error(`a comment that is not HELP, TYPE or UNIT: ${odd[0]}`);
};
