/** Prometheus' answer to a query: series with their samples. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** Unix seconds and value; several for a range, one for an instant. */
  readonly values: readonly (readonly [number, number])[];
}

type Sample = readonly [number, string];
interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: { readonly result: readonly { metric: Record<string, string>; value?: Sample; values?: Sample[] }[] };
}

/** A Prometheus to ask. */
export interface PrometheusClient {
  /** Evaluates an expression now. @throws Error with Prometheus' message if it rejects the query. */
  instant(expr: string): Promise<readonly Series[]>;
  /** Evaluates an expression for each second from then until now. */
  range(expr: string, fromUnixSeconds: number): Promise<readonly Series[]>;
  /** The current sum of a metric by two labels, without zeros. A series without the first label is under ''. */
  countsBy(selector: string, first: string, second: string): Promise<Readonly<Record<string, Record<string, number>>>>;
  /** The same by one label, with zeros. */
  totalsBy(selector: string, label: string): Promise<Readonly<Record<string, number>>>;
  labelValues(label: string, selector: string): Promise<readonly string[]>;
  /** The state of all rules. */
  rules(): Promise<readonly Rule[]>;
}

export interface Rule {
  readonly name: string;
  readonly type: 'alerting' | 'recording';
  readonly query: string;
  readonly health: string;
  readonly lastError?: string;
}

export const prometheusClient = (url: string): PrometheusClient => {
  const get = async <T>(path: string, parameters: Record<string, string>): Promise<T> =>
    (await (await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`)).json()) as T;

  const query = async (path: string, parameters: Record<string, string>): Promise<readonly Series[]> => {
    const { data, error } = await get<Answer>(path, parameters);
    if (data === undefined) throw new Error(`${error}\nin ${parameters.query}`);
    return data.result.map(({ metric, value, values = [] }) => ({
      metric,
      values: (value ? [value] : values).map(([at, text]) => [at, Number(text)] as const),
    }));
  };

  const instant = (expr: string): Promise<readonly Series[]> => query('query', { query: expr });

  return {
    instant,
    range: (expr, from) =>
      query('query_range', { query: expr, start: String(from), end: String(Date.now() / 1000), step: '1' }),
    countsBy: async (selector, first, second) => {
      const counts: Record<string, Record<string, number>> = {};
      for (const { metric, values } of await instant(`sum by (${first}, ${second}) (${selector})`)) {
        const group = metric[first] ?? '';
        counts[group] ??= {};
        const value = values[0]?.[1] ?? 0;
        if (value !== 0) counts[group][metric[second] ?? ''] = value;
      }
      return counts;
    },
    totalsBy: async (selector, label) =>
      Object.fromEntries(
        (await instant(`sum by (${label}) (${selector})`)).map(({ metric, values }) => [
          metric[label] ?? '',
          values[0]?.[1] ?? 0,
        ]),
      ),
    labelValues: async (label, selector) =>
      (await get<{ data: string[] }>(`label/${label}/values`, { 'match[]': selector })).data,
    rules: async () =>
      (await get<{ data: { groups: { rules: Rule[] }[] } }>('rules', {})).data.groups.flatMap(({ rules }) => rules),
  };
};
