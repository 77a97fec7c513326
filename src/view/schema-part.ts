/** What is read of a schema of valibot, or of an action in its pipe, by code that walks through it. */
export interface SchemaPart {
  readonly kind: string;
  readonly type: string;
  readonly async?: boolean;
  /** The first item is the schema itself, and may be a pipe. */
  readonly pipe?: readonly SchemaPart[];
  readonly wrapped?: SchemaPart;
  readonly item?: SchemaPart;
  readonly entries?: Entries;
  readonly default?: unknown;
  readonly fallback?: unknown;
  readonly requirement?: unknown;
  readonly message?: unknown;
}

export type Entries = Readonly<Record<string, SchemaPart>>;

/** Whether an object may lack a field of this schema. */
export const isOptional = ({ type }: SchemaPart): boolean => type === 'optional';
