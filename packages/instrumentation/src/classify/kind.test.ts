import { expect, it } from 'vitest';
import { kindOf } from './kind.ts';

it.each([
  ['bash', 'runner'],
  ['run_python', 'runner'],
  ['execute_code', 'runner'],
  ['executeShellCommand', 'runner'],
  ['python', 'runner'],
  ['code_interpreter', 'runner'],
  ['fetch', 'fetch'],
  ['fetch_page', 'fetch'],
  ['mcp__fetch__fetch', 'fetch'],
  ['firecrawl_scrape', 'fetch'],
  ['read_url', 'fetch'],
  ['browser_navigate', 'browser'],
  ['playwright_click', 'browser'],
  ['web_search', undefined],
  ['fetch_orders', undefined],
  ['execute_sql', undefined],
  ['run_query', undefined],
  ['get_user', undefined],
  ['code_review', undefined],
  ['payment_terminal', undefined],
  ['python_docs', undefined],
  ['sandbox_payments', undefined],
  ['task_runner', undefined],
])('O2: %s is a tool of kind %s', (tool, kind) => {
  expect(kindOf(tool)).toBe(kind);
});

it('O2: the title of the annotations counts too', () => {
  expect(kindOf('navigate', { title: 'Playwright: navigate' })).toBe('browser');
});
