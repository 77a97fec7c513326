import { parseArgs } from 'node:util';
import { EXIT, Fatal } from './exit.ts';
import { echo, nearest } from './text.ts';

/** The flags, each with the help's placeholder for its value; `''` for a switch. */
export type Flags = ReadonlyMap<string, string>;

export interface Flag {
  readonly name: string;
  /** `yes` for a switch. */
  readonly value: string;
}

/** A parsed command line. */
export interface CommandLine {
  /** The first operand. */
  readonly command: string | undefined;
  readonly flags: readonly Flag[];
  /** The other operands. */
  readonly operands: readonly string[];
}

/**
 * Parses a command line. In any position, `--help` runs the command `help`, and `--version` the
 * command `version`, without the other options. The command `help` ignores its options too.
 * @param flags the flags of all commands.
 * @param flagsOf returns the flags of a command, for the hint at an unknown one; `undefined` if
 *   there is no such command.
 * @throws {Fatal} exit 64 at a flag that is unknown or lacks its value.
 */
export function readCommandLine(
  args: readonly string[],
  flags: Flags,
  flagsOf: (command?: string) => readonly string[] | undefined = () => undefined,
): CommandLine {
  const types = Array.from(flags, ([name, value]) => {
    return [name, { type: value === '' ? ('boolean' as const) : ('string' as const) }] as const;
  });
  const help = { type: 'boolean', short: 'h' } as const;
  const version = { type: 'boolean', short: 'v' } as const;
  const options = { ...Object.fromEntries(types), help, version };
  // Not strict: a strict parser's messages don't say what to do.
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const given = tokens.filter((token) => token.kind === 'option');
  const words = tokens.filter((token) => token.kind === 'positional').map(({ value }) => value);
  const [command, ...operands] = words;
  const isAsked = (name: string): boolean => given.some((token) => token.name === name);
  if (isAsked('version')) return { command: 'version', flags: [], operands: [] };
  if (isAsked('help')) return { command: 'help', flags: [], operands: words.slice(0, 1) };
  if (command === 'help') return { command, flags: [], operands };
  const read = ({ name, rawName, value, inlineValue }: (typeof given)[number]): Flag => {
    const placeholder = flags.get(name);
    if (placeholder === undefined)
      throw unknownOption(rawName, flagsOf(command) ?? [...flags.keys()]);
    if (placeholder === '') return { name, value: value ?? 'yes' };
    // `--html --data d`: the value was forgotten, and the next flag is in its place.
    const next = inlineValue ? '' : (/^--([^=]*)/.exec(value ?? '')?.[1] ?? '');
    if (value !== undefined && !flags.has(next)) return { name, value };
    const found = flags.has(next) ? `, not the flag --${next}` : '';
    throw new Fatal(EXIT.usage, `--${name} needs a value${found}: --${name} ${placeholder}`);
  };
  return { command, flags: given.map(read), operands };
}

/**
 * Returns the error for an unknown option.
 * @param flag as typed.
 */
export function unknownOption(flag: string, known: readonly string[]): Fatal {
  const near = nearest(flag.replace(/^--/, ''), known);
  const hint = near === undefined ? 'see --help' : `did you mean --${near}?`;
  return new Fatal(EXIT.usage, `Unknown option ${echo(flag)}; ${hint}`);
}
