// What a part of viewlog tells its operator of itself: plain values. Whoever prints them need not
// know which part it is.

export interface Description {
  /** What the operator should see to, though the work goes on. */
  readonly warnings: readonly string[];
  readonly metrics: readonly Metric[];
  readonly facts: readonly Fact[];
  /** Facts that only a developer asks for. */
  readonly details?: readonly Fact[];
  /** What ends it that nothing can be done now. */
  readonly remedy?: Remedy | undefined;
}

/** What the operator has to do, and what to type first. */
export interface Remedy {
  readonly text: string;
  readonly command: string;
}

/** A line of the status page; a bad one is the reason why nothing can be done now. */
export type Fact = readonly [name: string, text: string, kind?: 'bad'];

/** A metric as Prometheus has it, with its samples: numbers since the start, or as of now. */
export interface Metric {
  readonly type: 'counter' | 'gauge';
  readonly name: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** One without a value is not printed. Label values are digits or viewlog's own words. */
export type Sample = readonly [value: number | undefined, labels?: Labels];
export type Labels = Readonly<Record<string, string>>;

export const counter = (name: string, help: string, samples: readonly Sample[]): Metric => ({
  type: 'counter',
  name,
  help,
  samples,
});

export const gauge = (name: string, help: string, samples: readonly Sample[]): Metric => ({
  type: 'gauge',
  name,
  help,
  samples,
});

/** A sample for each entry, such as a count for each reason. */
export const samplesBy = (label: string, values: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(values).map(([name, value]) => [value, { [label]: name }]);
