import { isatty } from 'node:tty';
import { EXIT, Fatal } from '../base/exit.ts';
import { echo, nearest } from '../base/text.ts';
import { VERSION } from '../base/version.ts';
import { layOut, type Paper } from '../manual/lay-out.ts';
import { manualPage, READERS, TOPICS } from '../manual/pages.ts';
import { envName, flagOf, type OptionName, OPTIONS } from '../settings.ts';
import { type Command, defineCommand } from './command.ts';

/** Of a page that is printed where there is no terminal to ask. */
const COLUMNS = 80;

/** `viewlog help [COMMAND|TOPIC]`, of these commands, which are asked for when it runs. */
export const helpOn = (commands: () => readonly Command[]): Command =>
  defineCommand({
    name: 'help',
    operands: '[COMMAND|TOPIC]',
    summary: 'says what a command does, or prints a page of the manual',
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
 * @param others names besides those of the commands that may have been meant.
 * @throws {Fatal} exit 64 where there is no such command.
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

/** What `help NAME` prints: of a command, or a page of the manual. */
function pageOf(name: string, commands: readonly Command[]): string {
  const page = manualPage(name);
  if (page !== undefined) return layOut(page, paper());
  return commandPage(findCommand(name, commands, TOPICS));
}

/** What stdout is: a terminal of so many columns, or a file or a pipe, which has none. */
function paper(): Paper {
  // Looked at before `process.stdout`, which would change how a pipe is written to.
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
    `viewlog ${VERSION}: a page-view collector; a 2xx means the line is on disk`,
    '',
    'viewlog [command] [options]',
    '',
    ...table(rows),
    '',
    'viewlog help COMMAND tells the options of each, viewlog help TOPIC prints a page of the manual:',
    ...topicLists(),
    '',
    'Exit codes: 0 done, 64 usage, 65 bad data, 69 address in use or servers not reached,',
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
    const isTold = typeof fallback === 'string' && value !== '';
    return [flag, (optionHelp?.[option] ?? help) + (isTold ? ` (${fallback})` : '')];
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

/** One variable as an example, and those that are not called as their flags are. */
function environment(options: readonly OptionName[]): string {
  const told = options.filter((option, i) => i === 0 || flagOf(option) !== option);
  const names = told.map((option) => `--${flagOf(option)} as ${envName(option)}`);
  return `Each option is also read from the environment, ${names.join(', ')}; flags win.`;
}

function table(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left!.length));
  return rows.map(([left, right]) => `  ${left!.padEnd(width)}  ${right}`);
}
