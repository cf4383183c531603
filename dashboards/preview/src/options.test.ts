import { expect, test } from 'vitest';
import { PreviewError } from './errors.ts';
import { HELP, parseOptions } from './options.ts';

test('without options: all dashboards, from a demo, at 1600 pixels', () => {
  expect(parseOptions([])).toEqual({
    prometheus: undefined,
    story: undefined,
    out: 'dashboards/preview/out',
    dashboards: [],
    row: undefined,
    open: false,
    width: 1600,
    height: undefined,
    fromMs: undefined,
    scrapeMs: undefined,
    chosen: {},
    json: false,
    help: false,
  });
});

test('with all options', () => {
  const args =
    '--prometheus http://127.0.0.1:9090 --story fleet --out pictures --dashboard a --dashboard b --row Now --width 1200 --height 900 --from 1h30m';
  expect(parseOptions(`${args} --scrape-interval 5s --var tool=x --var tool=y=z --json`.split(' '))).toMatchObject({
    prometheus: 'http://127.0.0.1:9090',
    story: 'fleet',
    out: 'pictures',
    dashboards: ['a', 'b'],
    row: 'Now',
    open: true,
    width: 1200,
    height: 900,
    fromMs: 5_400_000,
    scrapeMs: 5000,
    chosen: { tool: ['x', 'y=z'] },
    json: true,
  });
});

test.each([
  ['--width 10', 'whole number of pixels'],
  ['--width wide', 'whole number of pixels'],
  ['--height 10', 'whole number of pixels'],
  ['--from soon', '--from soon is not a duration'],
  ['--from 0s', '--from 0s is not a duration'],
  ['--prometheus 9090', 'http://127.0.0.1:9090'],
  ['--var tool', 'tool=web_search'],
  ['--story none', 'outage, fleet, incident, flood, single, spending, idle'],
  ['--colour', '--help'],
])('%s is rejected, with a correct example', (args, words) => {
  expect(() => parseOptions(args.split(' '))).toThrow(PreviewError);
  expect(() => parseOptions(args.split(' '))).toThrow(words);
});

test('the help says that it is not Grafana, and names every option', () => {
  expect(HELP).toContain('not Grafana');
  for (const option of [
    'prometheus',
    'story',
    'out',
    'dashboard',
    'row',
    'width',
    'height',
    'from',
    'scrape-interval',
    'var',
    'json',
  ]) {
    expect(HELP).toContain(`--${option}`);
  }
});
