import { dirname } from 'node:path';
import { isLoopback } from '../../status/guard.ts';
import { type Installation, realPath, type ServeSettings } from './installation.ts';
import { serveFlags } from './serve-flags.ts';

/** A unit for systemd 245 or later. */
export function systemd(installation: Installation): string {
  const { settings, dir, owner } = installation;
  const run = programOf(installation);
  return `# viewlog under systemd: /etc/systemd/system/viewlog.service. Then
#   sudo systemctl daemon-reload && sudo systemctl enable --now viewlog
# and "sudo systemctl reload viewlog" reads the projects file at once.
[Unit]
Description=viewlog, a page-view collector
After=network.target
# Not before the disk that it is on.
RequiresMountsFor=${word(dir)}
# Try for ever: a disk may come back.
StartLimitIntervalSec=0

[Service]
User=${owner.user}
Group=${owner.group}
${secretsOf(settings)}ExecStart=${run} serve ${argumentsOf(serveFlags(settings))}
# A faulty projects file fails the reload, which says why, and changes nothing.
ExecReload=${run} check ${argumentsOf(serveFlags(settings, ['data', 'projects']))}
ExecReload=/bin/kill -HUP $MAINPID
# Not ready first, so that a proxy in front turns away; then SIGTERM.
ExecStop=/bin/kill -USR2 $MAINPID
ExecStop=/bin/sleep 0.5
TimeoutStopSec=15
Restart=on-failure
RestartSec=2
# Usage, a directory that cannot be written to or locked, bad configuration: only you can mend those.
RestartPreventExitStatus=64 73 78
# A reload that arrives before viewlog can heed it; systemd would take it for a clean end.
RestartForceExitStatus=SIGHUP
# Each connection takes one.
LimitNOFILE=65536
UMask=0027

${sandboxOf(installation)}

[Install]
WantedBy=multi-user.target`;
}

/** What no command line may hold, since every user can read those. */
function secretsOf({ store, status, 'status-token-file': file }: ServeSettings): string {
  const isTokenWanted = status !== 'off' && !isLoopback(status.host) && file === undefined;
  const names = [store && 'VIEWLOG_STORE', isTokenWanted && 'VIEWLOG_STATUS_TOKEN'].filter(Boolean);
  if (names.length === 0) return '';
  return `# A file of root's with mode 0600, and in it: ${names.map((name) => `${name}=…`).join(', ')}
EnvironmentFile=/etc/viewlog.env
`;
}

function sandboxOf({ settings, dir, program }: Installation): string {
  const isFiles = settings.store === undefined;
  const { projects, 'status-token-file': token = dir, 'nats-creds': creds = dir } = settings;
  const paths = [dir, projects, token, creds, program.file, program.runtime ?? dir];
  const isUnder = (places: RegExp): boolean =>
    paths.some((path) => places.test(path) || places.test(realPath(path)));
  // systemd makes it, where it is not there.
  const [, state] = /^\/var\/lib\/([\w.-]+)$/.exec(dir) ?? [];
  const isState = state !== undefined && realPath(dir) === dir;
  const ports = [settings.port, settings.status === 'off' ? 0 : settings.status.port];
  const isLowPort = ports.some((port) => port > 0 && port < 1024);
  const capabilities = isLowPort ? 'CAP_NET_BIND_SERVICE' : '';
  return [
    '# The data directory is all that it can write.',
    'ProtectSystem=strict',
    ...(isFiles ? writable(dir, isState ? state : undefined) : []),
    // Where something of it is there, it has to be seen.
    `ProtectHome=${isUnder(/^\/(home|root|run\/user)(\/|$)/) ? 'read-only' : 'yes'}`,
    `PrivateTmp=${isUnder(/^\/(var\/)?tmp(\/|$)/) ? 'no' : 'yes'}`,
    `CapabilityBoundingSet=${capabilities}`,
    ...(isLowPort ? [`AmbientCapabilities=${capabilities}`] : []),
    HARDENING,
  ].join('\n');
}

const writable = (dir: string, state: string | undefined): string[] =>
  state === undefined
    ? [`ReadWritePaths=${word(dir)}`]
    : [`StateDirectory=${state}`, 'StateDirectoryMode=0750'];

const HARDENING = `PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
NoNewPrivileges=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
# What a runtime tries beyond (V8: pkey_alloc, libuv: io_uring) fails, instead of ending it.
SystemCallErrorNumber=EPERM`;

/** Real paths, so that neither a PATH nor a link that is moved on changes what runs. */
function programOf({ settings, dir, program: { runtime, file } }: Installation): string {
  if (runtime === undefined) return firstWord(file);
  const flags = /(^|\/)deno[^/]*$/.test(runtime) ? denoFlags(settings, dir) : [];
  return [firstWord(runtime), ...[...flags, file].map(argument)].join(' ');
}

function denoFlags(settings: ServeSettings, dir: string): string[] {
  const { projects, 'status-token-file': token, 'nats-creds': creds } = settings;
  const files = [dir, dirname(projects), token, creds].filter((path) => path !== undefined);
  const paths = [...new Set(files)].map((path) => path.replaceAll(',', ',,'));
  return [
    'run',
    '--no-prompt',
    '--allow-net',
    '--allow-env',
    '--allow-sys=statfs',
    `--allow-read=${paths.join(',')}`,
    ...(settings.store === undefined ? [`--allow-write=${paths[0]!}`] : []),
  ];
}

/** A path as systemd reads it: `%` begins one of its own words. */
function word(path: string): string {
  const text = path.replaceAll('%', '%%');
  return /^[\w/.@%+:,=-]+$/.test(text) ? text : `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

/** In a command line `$` begins a variable. */
const argument = (text: string): string => word(text).replaceAll('$', '$$$$');

const argumentsOf = (texts: readonly string[]): string => texts.map(argument).join(' ');

/** systemd takes no quotes or backslashes in the path of a program, and no `$$` for a `$`. */
const firstWord = (path: string): string =>
  /["'\\$]/.test(path) ? `/usr/bin/env ${argument(path)}` : word(path);
