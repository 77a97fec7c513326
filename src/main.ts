import { signals } from './base/heed-signals.ts';
import { activate } from './commands/activate.ts';
import { archive } from './commands/archive.ts';
import { check } from './commands/check.ts';
import { deactivate } from './commands/deactivate.ts';
import { explain } from './commands/explain.ts';
import { projects } from './commands/projects.ts';
import { replay } from './commands/replay.ts';
import { report } from './commands/report.ts';
import { shipperConfig } from './commands/example/shipper-config.ts';
import { verify } from './commands/verify.ts';
import { EXIT, type ExitCode, Fatal } from './base/exit.ts';
import { serve } from './serve.ts';
import {
  envName,
  flagOf,
  type OptionName,
  OPTIONS,
  readSettings,
  type Settings,
} from './settings.ts';
import { echo, nearest } from './base/text.ts';
import { VERSION } from './base/version.ts';

interface Command {
  readonly operands: string;
  readonly does: string;
  readonly options: readonly OptionName[];
  /** What an option does here, where that is not what it does for `serve`. */
  readonly help?: Partial<Record<OptionName, string>>;
  readonly run: (settings: Settings, operands: string[]) => Promise<ExitCode>;
}

const COMMANDS: Record<string, Command> = {
  serve: {
    operands: '',
    does: 'runs the collector (the default)',
    options: [
      'host',
      'port',
      'data',
      'projects',
      'durability',
      'max-view',
      'max-queue',
      'min-free',
      'max-refused',
      'keep-refused-days',
      'keep-days',
      'store',
      'nats-stream',
      'nats-replicas',
      'nats-creds',
      'status',
      'status-token-file',
      'log',
    ],
    run: serve,
  },
  check: {
    operands: '',
    does: 'checks the projects file',
    options: ['data', 'projects'],
    run: check,
  },
  explain: {
    operands: '[FILE]',
    does: 'says what POST /view would answer to a view (FILE or stdin), and why',
    options: ['origin', 'data', 'projects', 'max-view'],
    run: explain,
  },
  activate: {
    operands: 'ID',
    does: 'activates a project; makes the projects file where there is none',
    options: ['name', 'origin', 'data', 'projects'],
    run: activate,
  },
  deactivate: {
    operands: 'ID',
    does: 'deactivates a project',
    options: ['data', 'projects'],
    run: deactivate,
  },
  projects: {
    operands: '',
    does: 'lists the projects',
    options: ['data', 'projects'],
    run: projects,
  },
  verify: {
    operands: 'FILE…',
    does: 'checks view files: whole lines, in order, of their day',
    options: [],
    run: verify,
  },
  replay: {
    operands: 'FILE…',
    does: 'sends refused views that would be taken now to a running collector',
    options: ['replay-to', 'project', 'host', 'port', 'data', 'projects', 'max-view'],
    run: replay,
  },
  report: {
    operands: '[FILE…]',
    does: 'adds up the views: by day, hour, page, referrer, language, template',
    options: ['data', 'from-day', 'to-day', 'project', 'time-zone', 'top', 'html', 'json'],
    run: report,
  },
  archive: {
    operands: '',
    does: 'writes the views of a JetStream stream to view files, each once',
    options: [
      'archive-from',
      'data',
      'nats-stream',
      'nats-creds',
      'once',
      'min-free',
      'keep-days',
      'status',
      'status-token-file',
      'log',
    ],
    help: {
      'nats-stream': 'the stream to archive',
      'min-free': 'wait below this much free disk',
    },
    run: archive,
  },
  'shipper-config': {
    operands: 'fluent-bit|vector|filebeat|rsyslog',
    does: 'prints a configuration that ships the view files',
    options: ['data', 'max-view'],
    run: shipperConfig,
  },
};

async function main(args: readonly string[]): Promise<ExitCode> {
  if (args.includes('--version')) return say(`viewlog ${VERSION}`);
  const named = args[0] !== undefined && !args[0].startsWith('-') ? args[0] : undefined;
  const name = named ?? 'serve';
  if (args.includes('--help')) return say(named === undefined ? overview() : helpOf(name));
  const command = find(name);
  const { settings, operands } = readSettings(args.slice(named ? 1 : 0), command.options);
  if (command.operands === '' && operands.length > 0) {
    throw new Fatal(EXIT.usage, `viewlog ${name} takes no "${echo(operands[0]!)}"`);
  }
  if (command.run !== serve && command.run !== archive) signals.release();
  return command.run(settings, operands);
}

function find(name: string): Command {
  if (Object.hasOwn(COMMANDS, name)) return COMMANDS[name]!;
  const near = nearest(name, Object.keys(COMMANDS));
  const hint = near === undefined ? 'see viewlog --help' : `did you mean ${near}?`;
  throw new Fatal(EXIT.usage, `Unknown command "${echo(name)}"; ${hint}`);
}

function say(text: string): ExitCode {
  console.log(text);
  return EXIT.done;
}

function overview(): string {
  const rows = Object.entries(COMMANDS).map(([name, { operands, does }]) => [
    `${name} ${operands}`.trimEnd(),
    does,
  ]);
  return [
    `viewlog ${VERSION}: a page-view collector; a 2xx means the line is on disk`,
    '',
    'viewlog [command] [options]',
    '',
    ...table(rows),
    '',
    'viewlog COMMAND --help tells the options of each. Exit codes: 0 done, 64 usage, 65 bad data,',
    '69 address in use or servers not reached, 73 cannot create or lock, 74 I/O error, 78 bad configuration.',
  ].join('\n');
}

function helpOf(name: string): string {
  const { operands, does, options, help: own } = find(name);
  const rows = options.map((option) => {
    const { value, help, fallback } = OPTIONS[option];
    const flag = `--${flagOf(option)} ${value}`.trimEnd();
    const isTold = fallback !== undefined && value !== '';
    return [flag, (own?.[option] ?? help) + (isTold ? ` (${fallback})` : '')];
  });
  if (rows.length === 0) return `viewlog ${name} ${operands}\n${does}`;
  return [
    `viewlog ${[name, operands, '[options]'].filter(Boolean).join(' ')}`,
    does,
    '',
    ...table(rows),
    '',
    `Each is also read from the environment (--data from ${envName('data')}); flags win.`,
  ].join('\n');
}

function table(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left!.length));
  return rows.map(([left, right]) => `  ${left!.padEnd(width)}  ${right}`);
}

// Not awaited at the top: a single executable starts from CommonJS, which cannot.
void main(process.argv.slice(2))
  .catch((error: unknown): ExitCode => {
    if (!(error instanceof Fatal)) throw error;
    console.error(`viewlog: ${error.message}`);
    return error.exitCode;
  })
  // Exits by itself: on Bun a connection that never sent anything would keep the process.
  .then((code) => process.exit(code));
