import { isatty } from 'node:tty';
import { EXIT, Fatal } from '../base/exit.ts';
import { echo, nearest } from '../base/text.ts';
import { BUILD } from '../base/built.ts';
import { layOut, type Paper } from '../manual/lay-out.ts';
import { manualPage, READERS, TOPICS } from '../manual/pages.ts';
import { envName, flagOf, type OptionName, OPTIONS } from '../settings.ts';
import { type Command, defineCommand } from './command.ts';

/** For output that is not a terminal. */
const COLUMNS = 80;

/** `viewlog help [COMMAND|TOPIC]`. The list of commands contains it, so it is read when it runs. */
export const helpOn = (commands: () => readonly Command[]): Command =>
  defineCommand({
    name: 'help',
    operands: '[COMMAND|TOPIC]',
    summary: 'explains a command, or prints a page of the manual',
    examples: ['viewlog help activate', 'viewlog help trouble'],
    options: [],
    async run(_, operands, { print }) {
      if (operands.length > 1) {
        throw new Fatal(
          EXIT.usage,
          'help takes one command or topic, as in "viewlog help activate"',
        );
      }
      const [name] = operands;
      print(name === undefined ? overview(commands()) : pageOf(name, commands()));
      return EXIT.done;
    },
  });

/**
 * @param others names that may have been meant besides those of commands.
 * @throws {Fatal} exit 64 if there is no such command.
 */
export function findCommand(
  name: string,
  commands: readonly Command[],
  others: readonly string[] = [],
): Command {
  const found = commands.find((command) => command.name === name);
  if (found !== undefined) return found;
  const near = nearest(name, [...commands.map((command) => command.name), ...others]);
  const hint = near === undefined ? 'see viewlog --help' : `did you mean ${near}?`;
  throw new Fatal(EXIT.usage, `Unknown command "${echo(name)}"; ${hint}`);
}

/** Returns the help of a command, or a page of the manual. */
function pageOf(name: string, commands: readonly Command[]): string {
  const page = manualPage(name);
  if (page !== undefined) return layOut(page, paper());
  return commandPage(findCommand(name, commands, TOPICS));
}

/** Describes stdout: a terminal with its columns, or a file or a pipe, which has none. */
function paper(): Paper {
  // Not `process.stdout.isTTY`: touching `process.stdout` makes a pipe non-blocking.
  const isTerminal = isatty(1);
  const columns = isTerminal ? process.stdout.columns : undefined;
  return { isTerminal, columns: columns || COLUMNS };
}

function overview(commands: readonly Command[]): string {
  const rows = commands.map(({ name, operands, summary }) => [
    `${name} ${operands}`.trimEnd(),
    summary,
  ]);
  return [
    `viewlog ${BUILD}: a page-view collector; a 2xx means the line is on disk`,
    '',
    'viewlog [command] [options]',
    '',
    ...table(rows),
    '',
    'viewlog help COMMAND lists its options; viewlog help TOPIC prints a page of the manual:',
    ...topicLists(),
    '',
    'Exit codes: 0 done, 64 usage, 65 bad data, 69 address in use or servers unreachable,',
    '73 cannot create or lock, 74 I/O error, 78 bad configuration.',
  ].join('\n');
}

const topicLists = (): string[] =>
  Object.entries(READERS).flatMap(([reader, topics]) =>
    ['', reader].concat(table(Object.entries(topics))),
  );

function commandPage({ name, operands, summary, examples, options, optionHelp }: Command): string {
  const rows = options.map((option) => {
    const { value, help, fallback } = { fallback: undefined, ...OPTIONS[option] };
    const flag = `--${flagOf(option)} ${value}`.trimEnd();
    const isShown = typeof fallback === 'string' && value !== '';
    return [flag, (optionHelp?.[option] ?? help) + (isShown ? ` (${fallback})` : '')];
  });
  const usage = ['viewlog', name, operands, options.length > 0 && '[options]'];
  return [
    usage.filter(Boolean).join(' '),
    summary,
    '',
    ...table(rows),
    ...(rows.length > 0 ? [''] : []),
    'For example:',
    ...examples.map((example) => `  ${example}`),
    ...(rows.length > 0 ? ['', environment(options)] : []),
  ].join('\n');
}

/** Names one variable as an example, and those that are not named after their flags. */
function environment(options: readonly OptionName[]): string {
  const flagOnly = options.filter((option) => envName(option) === undefined);
  const except = flagOnly.map((option) => ` except --${flagOf(option)}`).join('');
  const named = options
    .filter((option) => !flagOnly.includes(option))
    .filter((option, i) => i === 0 || flagOf(option) !== option)
    .map((option) => `--${flagOf(option)} as ${envName(option)}`);
  return `Each option${except} is also read from the environment, ${named.join(', ')}; flags win.`;
}

function table(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left!.length));
  return rows.map(([left, right]) => `  ${left!.padEnd(width)}  ${right}`);
}
