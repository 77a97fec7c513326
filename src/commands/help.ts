import { isatty } from 'node:tty';
import { EXIT, Fatal } from '../base/exit.ts';
import { echo, nearest } from '../base/text.ts';
import { BUILD, licences } from '../base/built.ts';
import { alignTables, layOut, NO_BREAK } from '../manual/lay-out.ts';
import { Manual } from '../manual/find.ts';
import { READERS } from '../manual/pages.ts';
import { envName, flagOf, type OptionName, OPTIONS } from '../settings.ts';
import { helpCommand, nearOrList } from '../installation/commands.ts';
import { type Command, defineCommand, tableOf } from './command.ts';

/**
 * `viewlog help [COMMAND|TOPIC…]`.
 * @param commands returns all commands, `help` included, so it can be called only when `help` runs.
 */
export const helpOn = (commands: () => readonly Command[]): Command =>
  defineCommand({
    name: 'help',
    operands: '[COMMAND|TOPIC…]',
    summary: 'explains a command or prints a page of the manual',
    examples: ['viewlog help activate', 'viewlog help trouble', 'viewlog help caddy'],
    options: [],
    async run(_, operands, { print }) {
      const asked = operands.join(' ').trim();
      print(asked === '' ? overview(commands()) : textOn(asked, commands()));
      return EXIT.done;
    },
  });

export const version = defineCommand({
  name: 'version',
  summary: 'prints the version and its commit',
  examples: ['viewlog version', 'viewlog version --licenses'],
  options: ['licenses'],
  async run({ licenses }, _, { print }) {
    print(licenses ? licences().trimEnd() : `viewlog ${BUILD}`);
    return EXIT.done;
  },
});

/**
 * @throws {Fatal} exit 64 if there is no such command, with the nearest name, or else with the help
 * on the word.
 */
export function findCommand(name: string, commands: readonly Command[]): Command {
  const found = commands.find((command) => command.name === name);
  if (found !== undefined) return found;
  const near = nearest(name, namesOf(commands));
  const isExplained =
    near === undefined && /^[\w-]+$/.test(name) && new Manual().findNamed(name.toLowerCase());
  const hint = isExplained
    ? `. To read about it: ${helpCommand(name)}`
    : nearOrList(near, 'all commands');
  throw new Fatal(EXIT.usage, `Unknown command "${echo(name)}"${hint}`);
}

const namesOf = (commands: readonly Command[]): string[] => commands.map(({ name }) => name);

/** Returns the help of a command, or the page or section of the manual that the words lead to. */
function textOn(asked: string, commands: readonly Command[]): string {
  const words = asked.toLowerCase().split(/\s+/);
  const name = words.join(' ');
  const manual = new Manual();
  // `max-view` is an option, but `data` is a word. A pasted error may begin with an option.
  const option = optionPage(
    name.replace(/^(?=\w+-)/, '--').replace(/^(?:error: )?(--\S+) .*/, '$1'),
    commands,
    manual,
  );
  if (option !== undefined) return option;
  const command = commands.find((known) => known.name === words[0]);
  // The words after a command may be its operands, or a question such as `report is empty`.
  const [, next = '0'] = words;
  if (command !== undefined && /[\d/.=]|^-/.test(next)) return commandPage(command);
  const near = nearWord(name.replace(/^-+/, ''), commands, manual);
  // `serv` is a typo of `serve`, though both have the same stem. `duplicated` isn't a typo of
  // `duplicate`: it begins with that word.
  const isTypo = words.length === 1 && near && !name.startsWith(near) && !manual.hasExactly(name);
  const { text, listed } = isTypo ? { listed: [] } : manual.find(name);
  if (text !== undefined) {
    return layOut(text, columns(), isatty(1)).trimEnd() + seeAlso(listed.slice(1));
  }
  if (listed.length === 0) {
    const isFlag = name.startsWith('-') && near !== undefined && FLAGS.includes(near);
    const hint = nearOrList(isFlag ? `--${near}` : near, 'all commands and pages');
    throw new Fatal(EXIT.usage, `No help for "${echo(asked)}"${hint}`);
  }
  const unclear = /^--\S+$/.test(asked) ? 'viewlog has no option' : 'No section is clearly about';
  return `${unclear} "${echo(asked)}". These come closest:\n\n${listOf(listed)}`;
}

type Listed = readonly (readonly string[])[];

const seeAlso = (listed: Listed): string =>
  listed.length === 0 ? '' : `\n\nSee also:\n\n${listOf(listed)}`;

/** Returns the commands that print the sections. */
const listOf = (listed: Listed): string =>
  listed.map((words) => `  ${helpCommand(...words)}`).join('\n');

/**
 * Returns the command, option, topic or phrase that the words were probably meant to be. A short
 * word allows no typos and a long one two, so `arm` isn't taken for `ram`.
 */
function nearWord(
  name: string,
  commands: readonly Command[],
  { phrases }: Manual,
): string | undefined {
  const names = namesOf(commands).filter((command) => command !== 'help');
  const typosMax = name.length < 4 ? 0 : name.length < 8 ? 1 : 2;
  return nearest(name, [...names, ...FLAGS, ...phrases], typosMax);
}

/** Flags of more than three letters; shorter ones, such as `to`, are too common in questions. */
const FLAGS = Object.keys(OPTIONS)
  .map((option) => flagOf(option as OptionName))
  .filter((flag) => flag.length > 3);

// Not `process.stdout.isTTY`: touching `process.stdout` makes a pipe non-blocking.
const columns = (): number => (isatty(1) && process.stdout.columns) || 80;

function overview(commands: readonly Command[]): string {
  const rows = commands.map(({ name, operands = '', summary }) => [`${name} ${operands}`, summary]);
  const topics = Object.entries(READERS).flatMap(([reader, pages]) =>
    ['', reader].concat(tableOf(Object.entries(pages))),
  );
  return [
    `viewlog ${BUILD} collects page views and stores each as one line of JSON`,
    '',
    'viewlog [command] [options]',
    '',
    wrappedTable(rows),
    '',
    'viewlog help COMMAND lists its options; viewlog help TOPIC prints a manual page.',
    'For other words, such as caddy, upgrade or 403, help prints or lists the sections about them.',
    ...topics,
    '',
    'Exit codes: 0 done, 64 wrong command line, 65 bad data, 69 address in use or not',
    "reachable, 73 can't create or lock a file, 74 reading or writing failed,",
    '78 bad configuration.',
  ].join('\n');
}

/** Returns a table with its texts wrapped. */
function wrappedTable([head, ...rows]: readonly (readonly string[])[]): string {
  const lines = [head!, [''], ...rows].map(
    (row) => `| ${row.join(' | ').replace(/\|(?! )/, '\\|')} |`,
  );
  return alignTables(lines.join('\n'), columns());
}

/**
 * Returns what an option does in each command, and the sections that name it; `undefined` unless it
 * is the name of an option.
 */
function optionPage(
  name: string,
  commands: readonly Command[],
  manual: Manual,
): string | undefined {
  const byText = new Map<string, string[]>();
  const variables = new Set<string>();
  for (const command of commands) {
    const option = command.options.find((one) => name === `--${flagOf(one)}`);
    if (option === undefined) continue;
    const [, text] = optionRow(command, option);
    byText.set(text, [...(byText.get(text) ?? []), command.name]);
    const variable = envName(option);
    if (variable !== undefined) variables.add(variable);
  }
  if (byText.size === 0) return undefined;
  const rows = Array.from(byText, ([text, names]) => [
    names.length > 4
      ? `${names.slice(0, 2).join(', ')} and ${names.length - 2} others`
      : names.join(', '),
    text,
  ]);
  return `${wrappedTable([[name, ''], ...rows])}${seeAlso(manual.sectionsWith([name, ...variables]))}`;
}

/** Returns an option of a command with its value, and what it does there. */
function optionRow({ optionHelp }: Command, option: OptionName): [string, string] {
  const { value, help, fallback } = OPTIONS[option];
  const text = optionHelp?.[option] ?? help;
  const [, words, named] = /^(.*?)(?: \((default: .*)\))?$/.exec(text)!;
  // The variable's name follows from the flag if the flag is the option's own name.
  const isUsual = flagOf(option) === option;
  const notes = [
    named ?? (value && fallback && `default: ${fallback}`),
    isUsual ? '' : `variable: ${envName(option) ?? 'none'}`,
  ].filter(Boolean);
  const shown = notes.length === 0 ? '' : ` (${notes.join('; ').replaceAll(': ', `:${NO_BREAK}`)})`;
  return [`--${flagOf(option)} ${value}`, `${words}${shown}`];
}

function commandPage(command: Command): string {
  const { name, operands = '', summary, examples, options, optionNote } = command;
  const rows = options.map((option) => optionRow(command, option));
  const [first] = options;
  return [
    ['viewlog', name, operands, first && '[options]'].filter(Boolean).join(' '),
    summary,
    '',
    ...(first === undefined ? [] : [wrappedTable(rows), '']),
    ...(optionNote === undefined ? [] : [optionNote, '']),
    'For example:',
    ...examples.map((example) => `  ${example}`),
    ...(first === undefined ? [] : ['', environment(options)]),
  ].join('\n');
}

/**
 * Returns a note on variables. Its example is one of the command's own options, if possible one
 * with a hyphen.
 */
function environment(options: readonly OptionName[]): string {
  const usual = options.filter((option) => flagOf(option) === option);
  const example = usual.find((option) => option.includes('-')) ?? usual[0] ?? 'data';
  return (
    'Each option also has an environment variable, unless noted:\n' +
    `${envName(example)}${OPTIONS[example].value ? '' : '=yes'} sets --${example}. An option on the command line wins.`
  );
}
