import { isatty } from 'node:tty';
import { EXIT, Fatal } from '../base/exit.ts';
import { echo, nearest } from '../base/text.ts';
import { BUILD, licences } from '../base/built.ts';
import { layOut } from '../manual/lay-out.ts';
import { findText, READERS, TOPICS } from '../manual/pages.ts';
import { envName, flagOf, type OptionName, OPTIONS } from '../settings.ts';
import { viewlog } from '../installation/commands.ts';
import { programWords } from '../installation/installation.ts';
import { type Command, defineCommand, tableOf } from './command.ts';

/**
 * `viewlog help [COMMAND|TOPIC…]`.
 * @param commands returns all commands, `help` included, so it can be called only when `help` runs.
 */
export const helpOn = (commands: () => readonly Command[]): Command =>
  defineCommand({
    name: 'help',
    operands: '[COMMAND|TOPIC…]',
    summary: 'explains a command, or prints a page of the manual',
    examples: ['viewlog help activate', 'viewlog help trouble', 'viewlog help caddy'],
    options: [],
    async run(_, operands, { print }) {
      const name = operands.join(' ').toLowerCase();
      print(name === '' ? overview(commands()) : textOn(name, commands()));
      return EXIT.done;
    },
  });

export const version = defineCommand({
  name: 'version',
  summary: 'prints the version, and the commit that it was built from',
  examples: ['viewlog version', 'viewlog version --licenses'],
  options: ['licenses'],
  async run({ licenses }, _, { print }) {
    print(licenses ? licences().trimEnd() : `viewlog ${BUILD}`);
    return EXIT.done;
  },
});

/** @throws {Fatal} exit 64 if there is no such command, with the nearest name. */
export function findCommand(
  name: string,
  commands: readonly Command[],
  topics: readonly string[] = [],
): Command {
  const found = commands.find((command) => command.name === name);
  if (found !== undefined) return found;
  const near = nearest(name, [...commands.map((command) => command.name), ...topics]);
  const list = viewlog({ program: programWords([], []) }, ['help']);
  const what = topics.length === 0 ? 'Unknown command' : 'No command, page or section has the name';
  const hint = near === undefined ? `to list them: ${list}` : `did you mean ${near}?`;
  throw new Fatal(EXIT.usage, `${what} "${echo(name)}"; ${hint}`);
}

/** Returns the help of a command, or the page or section of the manual that a word leads to. */
function textOn(name: string, commands: readonly Command[]): string {
  const isCommand = commands.some((command) => command.name === name);
  const text = isCommand ? undefined : findText(name);
  if (text === undefined) return commandPage(findCommand(name, commands, TOPICS));
  // Not `process.stdout.isTTY`: touching `process.stdout` makes a pipe non-blocking.
  const isTerminal = isatty(1);
  return layOut(text, (isTerminal && process.stdout.columns) || 80, isTerminal);
}

function overview(commands: readonly Command[]): string {
  const rows = commands.map(({ name, operands = '', summary }) => [`${name} ${operands}`, summary]);
  const topics = Object.entries(READERS).flatMap(([reader, pages]) =>
    ['', reader].concat(tableOf(Object.entries(pages))),
  );
  return [
    `viewlog ${BUILD} collects page views, and stores each as one line of JSON`,
    '',
    'viewlog [command] [options]',
    '',
    ...tableOf(rows),
    '',
    'viewlog help COMMAND lists its options; viewlog help TOPIC prints a page of the manual.',
    'Most other words, such as caddy, upgrade or 403, print the section about them.',
    ...topics,
    '',
    'Exit codes: 0 done, 64 usage, 65 bad data, 69 address in use or servers unreachable,',
    "73 can't create or lock, 74 I/O error, 78 bad configuration.",
  ].join('\n');
}

function commandPage(command: Command): string {
  const { name, operands = '', summary, examples, options, optionHelp } = command;
  const rows = options.map((option) => {
    const { value, help, fallback } = OPTIONS[option];
    const text = optionHelp?.[option] ?? help;
    const isNamed = value === '' || !fallback || text.includes('(default: ');
    const shown = isNamed ? '' : ` (default: ${fallback})`;
    // The variable's name follows from the flag, unless the option shares its flag with another
    // option.
    const isUsual = flagOf(option) === option;
    const variable = isUsual ? '' : ` (variable: ${envName(option) ?? 'none'})`;
    return [`--${flagOf(option)} ${value}`, `${text}${shown}${variable}`];
  });
  const [first] = options;
  return [
    ['viewlog', name, operands, first && '[options]'].filter(Boolean).join(' '),
    summary,
    '',
    ...(first === undefined ? [] : [...tableOf(rows), '']),
    'For example:',
    ...examples.map((example) => `  ${example}`),
    ...(first === undefined ? [] : ['', environment(options)]),
  ].join('\n');
}

/** Returns a note on variables, with one of the command's own options. */
function environment(options: readonly OptionName[]): string {
  const example = options.find((option) => flagOf(option) === option) ?? 'data';
  return (
    `Unless noted, each option can also be an environment variable, such as ${envName(example)} for\n` +
    `--${example}. An option on the command line wins.`
  );
}
