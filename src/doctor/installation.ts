/** What the operator chose of the collector that is looked at: `serve`'s settings. */
export interface Installation {
  readonly host: string;
  readonly port: number;
  readonly data: string;
  readonly projects: string;
  readonly durability: 'disk' | 'os';
  /** Bytes, as the other sizes. */
  readonly 'max-view': number;
  readonly 'min-free': number;
  /** 0: for ever. */
  readonly 'keep-days': number;
  /** Where there is one, views go to a stream, and there is no data directory. */
  readonly store: object | undefined;
  readonly status: 'off' | { readonly host: string; readonly port: number };
  readonly 'status-token-file': string | undefined;
}
