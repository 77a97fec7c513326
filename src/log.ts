/** One line an event. Pass strangers' text through `printable` first. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Events to stdout, what needs the operator's attention to stderr. */
export const consoleLog: Log = {
  info: (message) => console.log(message),
  warn: (message) => console.error(`warning: ${message}`),
  error: (message) => console.error(`error: ${message}`),
};
