/**
 * A schema of valibot's, or an action in its pipe: what is read of them by what goes through a
 * schema whatever it is made of.
 */
export interface SchemaPart {
  readonly kind: string;
  readonly type: string;
  readonly async?: boolean;
  /** Its first item is the schema itself, and may be a pipe. */
  readonly pipe?: readonly SchemaPart[];
  readonly wrapped?: SchemaPart;
  readonly item?: SchemaPart;
  readonly entries?: Entries;
  readonly default?: unknown;
  readonly fallback?: unknown;
  readonly requirement?: unknown;
  readonly message?: unknown;
  readonly expects?: string | null;
}

export type Entries = Readonly<Record<string, SchemaPart>>;

const OPTIONALS = new Set(['optional', 'exact_optional', 'nullish']);

/** Whether an object may lack a field of this schema. */
export const mayBeAbsent = ({ type }: SchemaPart): boolean => OPTIONALS.has(type);
