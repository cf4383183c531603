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
  ['bash_tool', 'runner'],
  ['powershell', 'runner'],
  ['js-repl', 'runner'],
  ['shell executor', 'runner'],
  ['eval', undefined],
  ['exec_shell', 'runner'],
  ['run_the_program', 'runner'],
  ['run_cmd', 'runner'],
  ['run_scripts', 'runner'],
  ['my_bash', undefined],
  ['bash_history', undefined],
  ['Run User Code', 'runner'],
  ['-- bash --', 'runner'],
  ['run2code', undefined],
  ['fetchURLs', 'fetch'],
  ['fetch website', 'fetch'],
  ['http_get', 'fetch'],
  ['visit_web_page', 'fetch'],
  ['open-webpage', 'fetch'],
  ['webFetch', 'fetch'],
  ['crawl', 'fetch'],
  ['prefetch', undefined],
  ['fetching', undefined],
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
