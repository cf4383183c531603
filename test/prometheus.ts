/** What Prometheus answers to a query: series with their samples. */
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
  /** Evaluates now. @throws Error with Prometheus' words when it refuses the query. */
  instant(expr: string): Promise<readonly Series[]>;
  /** Evaluates each second from then until now. */
  range(expr: string, fromUnixSeconds: number): Promise<readonly Series[]>;
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

  return {
    instant: (expr) => query('query', { query: expr }),
    range: (expr, from) =>
      query('query_range', { query: expr, start: String(from), end: String(Date.now() / 1000), step: '1' }),
    labelValues: async (label, selector) =>
      (await get<{ data: string[] }>(`label/${label}/values`, { 'match[]': selector })).data,
    rules: async () =>
      (await get<{ data: { groups: { rules: Rule[] }[] } }>('rules', {})).data.groups.flatMap(({ rules }) => rules),
  };
};
