/** What a metric's kind is called in a scrape, as OpenTelemetry's serializer has it. */
export const PROM_TYPE = {
  counter: 'counter',
  updowncounter: 'gauge',
  gauge: 'gauge',
  histogram: 'histogram',
} as const;

/** An attribute's name with dots is a label's with underscores. */
export const labelName = (attribute: string): string => attribute.replaceAll('.', '_');
