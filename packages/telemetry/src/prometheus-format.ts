/** The type of a metric in a scrape, as OpenTelemetry's serializer writes it. */
export const PROM_TYPE = {
  counter: 'counter',
  updowncounter: 'gauge',
  gauge: 'gauge',
  histogram: 'histogram',
} as const;

/** The label for an attribute: dots become underscores. */
export const labelName = (attribute: string): string => attribute.replaceAll('.', '_');
