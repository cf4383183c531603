/** An answer that is not 2xx, in the form that HTTP clients throw. Breakerbox reads its status and Retry-After. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Headers;

  constructor(response: Response) {
    super(`${new URL(response.url).host} answered ${response.status} ${response.statusText}`);
    this.name = 'HttpError';
    this.status = response.status;
    this.headers = response.headers;
  }
}

/**
 * The work of a tool: asks a service.
 *
 * @throws HttpError if the answer is not 2xx, and any error of `fetch`.
 */
export const getJson = async (
  url: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<unknown> => {
  const response = await fetch(`${url}/?${new URLSearchParams(query)}`, { ...(signal && { signal }) });
  if (response.ok) return response.json();
  await response.body?.cancel();
  throw new HttpError(response);
};
