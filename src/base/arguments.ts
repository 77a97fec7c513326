import { parseArgs } from 'node:util';
import { EXIT, Fatal } from './exit.ts';
import { exampleOf, type Parser } from './option.ts';

/** The flags, each with what its value must be; `''` for a switch. */
export type Flags = ReadonlyMap<
  string,
  '' | Pick<Parser<unknown>, 'expected' | 'example' | 'isChoice'>
>;

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

/** Some programs turn the hyphens of a pasted option into a dash. */
export const DASH = /^[\u2010-\u2015\u2212]+-?(?=\w)/;

/**
 * Parses a command line. In any position, `--help` runs the command `help`, and `--version` the
 * command `version`, without the other options.
 * @param flags the flags of all commands.
 * @param flagsOf returns the flags of a command; `undefined` if there is no such command.
 * @param unknown returns the error for a flag, as typed, that isn't one of the command's.
 * @throws {Fatal} exit 64 at a flag that lacks its value.
 */
export function readCommandLine(
  args: readonly string[],
  flags: Flags,
  flagsOf: (command?: string) => Flags | undefined,
  unknown: (flag: string, command?: string) => Fatal,
): CommandLine {
  const types = Array.from(flags, ([name, value]) => {
    return [name, { type: value === '' ? ('boolean' as const) : ('string' as const) }] as const;
  });
  const options = Object.fromEntries(types);
  // Not strict: a strict parser's messages don't say what to do.
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const given = tokens.filter((token) => token.kind === 'option');
  const typed = given.map(({ index }) => args[index]!.replace(/=.*$/s, ''));
  const positionals = tokens.filter((token) => token.kind === 'positional');
  const words = positionals.map(({ value }) => value);
  const [command, ...operands] = words;
  const isAsked = (...names: string[]): boolean => typed.some((name) => names.includes(name));
  if (isAsked('--version', '-v', '-V')) return { command: 'version', flags: [], operands: [] };
  if (isAsked('--help', '-help', '-h'))
    return { command: 'help', flags: [], operands: words.slice(0, 1) };
  const end = tokens.find((token) => token.kind === 'option-terminator')?.index ?? Infinity;
  const dash = positionals.find(({ index, value }) => index < end && DASH.test(value));
  if (dash !== undefined) throw unknown(dash.value.replace(/=.*$/s, ''), command);
  const own = flagsOf(command) ?? flags;
  const read = ({ name, value, inlineValue }: (typeof given)[number], i: number): Flag => {
    const needed = own.get(name);
    if (needed === undefined) throw unknown(typed[i]!, command);
    if (needed === '') return { name, value: value ?? 'yes' };
    // `--html --data d`: the value was forgotten, and the next flag is in its place.
    const next = inlineValue ? '' : (/^--([^=]*)/.exec(value ?? '')?.[1] ?? '');
    if (value !== undefined && !flags.has(next)) return { name, value };
    const instead = flags.has(next) ? `; found --${next}` : '';
    const what = `--${name} needs a value: ${needed.expected}${instead}`;
    throw new Fatal(EXIT.usage, `${what}${exampleOf(`--${name}`, needed)}`);
  };
  return { command, flags: given.map(read), operands };
}
