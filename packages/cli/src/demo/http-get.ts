/** An answer that isn't 2xx, in the shape that HTTP clients throw: Breakerbox reads status and Retry-After from it. */
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
 * What a tool does: asks a service.
 *
 * @throws HttpError when the answer isn't 2xx, and whatever `fetch` throws.
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
