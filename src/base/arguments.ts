import { parseArgs } from 'node:util';
import { EXIT, Fatal } from './exit.ts';
import { echo, nearest } from './text.ts';

/** What can be typed after `--`, with what stands for its value in the help; `''`: a switch. */
export type Flags = ReadonlyMap<string, string>;

/** One flag with its value, or one operand. */
export interface Part {
  /** Undefined for an operand. */
  readonly flag: string | undefined;
  readonly value: string;
  /** Which of the arguments it is, or begins with. */
  readonly index: number;
}

/**
 * The parts of a command line, in order.
 * @throws {Fatal} exit 64 on coming to a flag that is unknown or lacks its value.
 */
export function* partsOf(args: readonly string[], flags: Flags): Generator<Part> {
  const options = Object.fromEntries(
    [...flags].map(([flag, value]) => [
      flag,
      { type: value === '' ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  // Not strict, for messages that say what to do; strict mode's end in a stack trace.
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  for (const token of tokens) {
    const { kind, index } = token;
    if (kind === 'positional') yield { flag: undefined, value: token.value, index };
    if (kind === 'option') {
      const flag = token.name;
      if (!flags.has(flag)) throw unknownOption(token.rawName, flags);
      yield { flag, value: valueOf(token, flags), index };
    }
  }
}

interface OptionToken {
  readonly name: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function valueOf({ name, value, inlineValue }: OptionToken, flags: Flags): string {
  const stands = flags.get(name)!;
  if (stands === '') return value ?? 'yes';
  // `--html --data d`: the value was forgotten, and the next flag stands in its place.
  const [, next = ''] = /^--([^=]*)/.exec(value ?? '') ?? [];
  const isEaten = inlineValue !== true && flags.has(next);
  if (value !== undefined && !isEaten) return value;
  const found = isEaten ? `, not the flag --${next}` : '';
  throw new Fatal(EXIT.usage, `--${name} needs a value${found}: --${name} ${stands}`);
}

function unknownOption(raw: string, flags: Flags): Fatal {
  const near = nearest(
    raw,
    Array.from(flags.keys(), (flag) => `--${flag}`),
  );
  const hint = near === undefined ? 'see --help' : `did you mean ${near}?`;
  return new Fatal(EXIT.usage, `Unknown option ${echo(raw)}; ${hint}`);
}
