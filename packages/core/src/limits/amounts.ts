import { warnOnce } from '../warnings/warnings.ts';

/** D3: warns once of an amount that counts nothing. The value is not shown, because it may be a secret. */
export const warnOfAmount = (what: string, field: string, value: unknown): void => {
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= 0)) return;
  const is = typeof value === 'number' ? `${value}` : `of type ${typeof value}`;
  warnOnce(
    'BREAKERBOX_SETTLEMENT',
    `${what}: ${field}`,
    () => `${what}: ${field} is ${is}, so it counts nothing. Give a number that is 0 or more, or leave it out.`,
  );
};

/** The same for `session.spend(usage)`. */
export const warnOfUsage = (agent: string, usage: { readonly tokens?: unknown; readonly cost?: unknown }): void => {
  const what = `session.spend() of agent '${agent}'`;
  for (const field of ['tokens', 'cost'] as const) if (field in usage) warnOfAmount(what, field, usage[field]);
  if ('tokens' in usage || 'cost' in usage) return;
  warnOnce(
    'BREAKERBOX_SETTLEMENT',
    what,
    () =>
      `${what}: it has neither tokens nor cost, so it counts nothing. Give at least one of them, such as session.spend({ tokens: 500 }).`,
  );
};
