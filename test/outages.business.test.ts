/** An agent with twenty tools that throw business errors, as the tools of most frameworks do. None of them is an outage. */
import { guard } from '@breakerbox/instrumentation';
import { expect, test } from 'vitest';
import { spent, watched } from './outages/clients.ts';

/** The error of a tool for one of its inputs. */
const TOOLS: Readonly<Record<string, (input: string) => Error>> = {
  get_user: (id) => new Error(`User ${id} not found`),
  cancel_order: (id) => new Error(`Order ${id} cannot be cancelled: it was delivered`),
  return_items: () => new Error('Some items are not part of this order'),
  exchange_items: (id) => new Error(`Item ${id} is not available in that size`),
  pay: () => new Error('Payment method does not cover the amount'),
  use_gift_card: () => new Error('The gift card has expired'),
  book_flight: (id) => new Error(`Not enough seats on flight ${id}`),
  change_address: () => new Error('Invalid postal code'),
  read_file: (id) => Object.assign(new Error(`ENOENT: no such file or directory, open '${id}.md'`), { code: 'ENOENT' }),
  write_file: (id) =>
    Object.assign(new Error(`EISDIR: illegal operation on a directory, open '${id}'`), { code: 'EISDIR' }),
  make_folder: (id) => Object.assign(new Error(`EEXIST: file already exists, mkdir '${id}'`), { code: 'EEXIST' }),
  query_orders: (id) =>
    Object.assign(new Error(`relation "${id}" does not exist`), { code: '42P01', severity: 'ERROR' }),
  create_customer: () => new Error('duplicate key value violates unique constraint "customers_email_key"'),
  get_issue: (id) => Object.assign(new Error(`Not Found`), { status: 404, request: { url: `/issues/${id}` } }),
  post_message: () => new Error('channel_not_found'),
  calculate: (id) => new Error(`Unknown function '${id}' in the expression`),
  schedule: () => new Error('The end must be after the start'),
  search_products: () => new Error('At least one of category, brand or query is required'),
  open_account: (id) => new Error(`An account named ${id} already exists`),
  think: () => new Error('No plan yet. Call make_plan first.'),
};

const INPUTS = ['a-1', 'b-22', 'c-333', 'd-4444', 'e-55555'];

test('O2: business errors of twenty tools, five times each, open no circuit and cost nothing', async () => {
  const { session, decisions, outcomes } = watched();
  const tools = Object.entries(TOOLS).map(([name, errorFor]) =>
    guard(session, name, ({ id }: { id: string }): string => {
      throw errorFor(id);
    }),
  );
  for (const id of INPUTS) {
    session.step();
    for (const tool of tools) await expect(tool({ id })).rejects.toThrow();
  }
  expect(outcomes.filter((one) => !one.includes('ignored'))).toEqual([]);
  expect(decisions).toHaveLength(tools.length * INPUTS.length);
  expect(new Set(decisions.map((one) => one.split(': ')[1]))).toEqual(new Set(['call']));
  expect(session.view().circuits.filter(({ state }) => state !== 'closed')).toEqual([]);
  expect(spent(session)).toBe(0);
});
