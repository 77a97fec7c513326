import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Manual } from '../../src/manual/find.ts';
import { TOPICS } from '../../src/manual/pages.ts';
import { flagOf, type OptionName, OPTIONS } from '../../src/settings.ts';
import { MANUAL, PAGES, read } from '../support/documents.ts';

// Tests which section of the manual `viewlog help WORDS` finds.

/** The manual's texts by file name. */
const TEXTS = Object.fromEntries(
  [...PAGES, `${MANUAL}/synonyms.txt`].map((path) => [basename(path), read(path)]),
);

const manual = new Manual(TEXTS);

/** Returns the first page or section that `viewlog help` prints or lists. */
function find(asked: string): string | undefined {
  const { text, listed } = manual.find(asked.toLowerCase());
  return text ?? (listed[0] && manual.findNamed(listed[0].join(' ')));
}

/** Questions by the page and the first heading of their answer. */
const ANSWERS = {
  'archiving # Set up the archive': 'set up an archive',
  'api # Preflights and credentials': 'preflight | preflights',
  'containers # Containers':
    'docker | docker compose | podman | docker image | set up docker | install docker',
  'containers # Kubernetes':
    'kubernetes | k8s | kubernetes readiness probe | liveness probe | CrashLoopBackOff',
  'cluster # The balancer':
    'load balancing | two servers load balancing | run two collectors behind a load balancer',
  'cluster # More than one server': 'nats | jetstream | high availability | set up a cluster',
  'fields # What a page puts into a view': 'title | url',
  'files # The files':
    "file format | line format | format of the files | data format | ndjson format | file names | yesterday's file | log format",
  'files # Check files': "check files | 1 invalid line: 1 (doesn't start with ts and id)",
  'files # Send refused views again':
    'replay | send refused views again | how do I resend refused views',
  'guarantees # A 201': 'power cut | power outage',
  'guarantees # A crash':
    'crash | lost views after a crash | kill -9 | kill | sigkill | after a reboot | the server crashed | data loss | /data/views-2026-01-31.ndjson ended in a fragment, a part of a line; viewlog has sealed it with a newline | crash recovery | lost views',
  'guarantees # A disk that hangs':
    'The disk that holds "/var/lib/viewlog/views-2026-01-31.ndjson" hasn\'t answered for 10 seconds; refusing views',
  'guarantees # Load':
    'memory | out of memory | the server ran out of memory | oom killer | OOMKilled | memory leak',
  'guarantees # One writer': 'one writer | nfs | nfs share',
  'looking # Looking at the views':
    'view | views | top pages | most viewed pages | how do I see the views | count views per page | views per page',
  'looking # A weekly report by cron':
    'cron | weekly | e-mail | email | report per week | send the report by email | weekly e-mail report',
  'looking # Watch views arrive': 'real time | live views | tail -f',
  'looking # What the lists count':
    'referrer | query | campaigns | utm | utm campaign | referrer missing',
  'looking # Which days': 'timezone | change the time zone | timestamp timezone',
  'looking # With jq and DuckDB':
    'csv | export | sql | sqlite | python | pandas | export to excel | export views as csv | jq | jq examples | jq top pages',
  "privacy # Addresses in the proxy's log": 'proxy log | nginx access log',
  'privacy # Deleting data': "old files aren't removed | delete all data",
  'privacy # Do I need consent?':
    'consent | legal basis | banner | cookie | cookie banner | lawyer | does it set a cookie | gdpr consent | is it legal | gdpr | is it gdpr compliant',
  'privacy # Third parties and processors':
    'third party | third parties | processors | data processing agreement | dpa | processor | does it send telemetry',
  'privacy # Visitors who object': 'objection | art. 21 | opt out | opt-out | optout | opt-in',
  'privacy # What is stored, and where':
    'last-start.json | art. 30 | encryption | is the data encrypted | are the files encrypted | data | how long is data kept | where is data stored | where is personal data stored | privacy policy | privacy notice | what do I write into my privacy policy | what to put in my privacy notice',
  'privacy # Privacy': 'personal data',
  'projects-file # The projects file':
    'domain | hostname | subdomain | subdomains | www | wildcard | origin | origins | allow a subdomain',
  'projects-file # Edit it with commands':
    'another site | site moved | new domain | second site | several sites | how can I add a site | add a second website | add an origin',
  'projects-file # If the file is invalid':
    'faulty | error: d2/projects.json:1:2: expected a key in double quotes; found bad | /var/lib/viewlog/projects.json:7:3: projects[0]: unknown key "orgins" | invalid projects file | projects file is invalid',
  'proxies # Caddy':
    'caddy | caddyfile | set up caddy in front of viewlog | set up caddy | run behind caddy',
  'proxies # HTTPS and TLS':
    'tls | https | ssl | certificate | letsencrypt | certbot | mixed content | https certifcate',
  'projects-file # Several hosts of one site': 'two hosts | several hosts',
  'proxies # Other proxies': 'apache | can I use cloudflare | haproxy',
  'proxies # nginx':
    'keep-alive | nginx | set up nginx | install nginx | run viewlog behind nginx | nginx reverse proxy',
  'reference # Configuration': 'config',
  'reference # Environment variables': 'env | environment variable',
  'reference # Exit codes': 'exit code',
  'reference # Metrics':
    'metrics | viewlog_views_accepted_total | set up prometheus | prometheus metrics',
  'running # Alerts':
    'monitoring | alert | get an email when views stop arriving | email when no views arrive | grafana | set up alerts',
  'running # Backups': 'chown | backup | restore | how do I back up the data',
  'running # Change options of the unit':
    'options | unit | change options | how do I change the port',
  'running # Move to another server':
    'migrate | move server | how do I move it to another server | new server',
  'running # Restarts':
    'stop | how do I stop it | viewlog stopping | stopped | graceful shutdown | zero downtime',
  'running # Retention':
    'retention | data retention | keep | keep files | how long are files kept | keep-days | keep days | delete old files | remove old files | delete old views | expire',
  'running # The log': 'log | access log | see the log | journalctl | journald | logs',
  'running # Updates and rollback':
    'update | upgrade | rollback | roll back | new version | downgrade | migration | how do I update viewlog to a new version',
  'running # systemd': 'service | systemd | systemctl | set up systemd',
  'runtimes # Bun': 'bun',
  'runtimes # Runtimes and platforms': 'windows | macos | run on windows | raspberry pi',
  'security # A flood': 'spam | ddos attack',
  'security # Permissions': 'file permissions | which user does it run as',
  "security # The status server's token":
    'password | change the token | forgot token | status-token-file',
  "security # Views aren't authenticated": 'authentication | api key | fake views',
  'send # A script of your own':
    'beacon | sendBeacon | navigator.sendBeacon | own script | write my own script',
  'send # Content-Security-Policy':
    "csp | csp error | content security policy | refused to connect because it violates the following content security policy directive | violates the document's content security policy",
  'send # Sending views from a page':
    'tracking code | how do I install the script | add script tag | script',
  'send # Single-page sites':
    'react | vue | svelte | single page | spa | router | react router | pushstate | angular | nuxt | vue router',
  "send # Views that aren't counted":
    'viewlog2000002 is off: no data-local | bots | noscript | iframe | frame | exclude my own visits | count my own visits | bot filter',
  'send # Where to put the script': 'amp | wordpress | tag manager | google tag manager',
  'shipping # ClickHouse': 'clickhouse | configure clickhouse | import into ClickHouse',
  'shipping # Compressing old days': 'gzip | compress | compress old files | .gz files | zstd',
  'shipping # Prove that every view arrived': 'receipt',
  'shipping # Rotation and incomplete lines':
    'rotation | rotate | logrotate | half line | log rotation | rotate logs | Failed to parse JSON | logstash _jsonparsefailure',
  'shipping # Shipping the views':
    'ship | elasticsearch | logstash | promtail | filebeat | kafka | vector | vector config | fluent-bit | fluent bit | fluentbit | s3 upload | loki',
  'speed # Speed':
    'slow | is it slow | performance | throughput | views per second | requests per second | how many requests per second | rps | how many views per second can it handle',
  'start # Install it':
    'install | installation | set up | set up viewlog | how do I install it | Unit viewlog.service not found.',
  'start # Start': 'start',
  'start # Uninstall': 'uninstall',
  'start # Use another port or directory':
    'two collectors | can I run two collectors on one machine | second collector on one server | bind | listen | port | another port | unix socket',
  'status-page # The status page': 'status | status page | dashboard',
  'status-page # Uptime monitors': 'uptime kuma | healthcheck for uptime robot',
  'trouble # 400':
    'body cut off | cut off | invalid json | malformed-json | The body is "[object Object]": a page sent an object as text. Send JSON.stringify(view).',
  'trouble # 403':
    '403 | Failed to load resource: the server responded with a status of 403 (Forbidden) | forbidden | origin not allowed | 403 forbidden | project-not-activated | origin-not-allowed | Project 4 doesn\'t accept views from "https://a.example". If it is one of its sites, ask the operator | Project 1000001 requires an Origin header, but the request has none',
  'trouble # 404': 'There is nothing at /foo; send views to /view.',
  'trouble # 405': 'method not allowed | 405 method not allowed',
  'trouble # 408': 'request timeout',
  'trouble # 413': '413 | payload too large | 413 request entity too large | body too large',
  'trouble # 415':
    'content type | content-type | 415 unsupported media type | POST https://views.example.com/view 415 (Unsupported Media Type)',
  'trouble # 422':
    '422 | {"type":"urn:viewlog:problem:invalid-view","status":422,"code":"invalid-view","detail":"x"} | invalid-view | "url" must be a string that starts with "/"; received "home"',
  'trouble # 429':
    '429 | limits | rate limit | limit | too many views | too many requests | 429 too many requests | rate limting',
  'trouble # 502':
    'net::ERR_CONNECTION_TIMED_OUT | connection timed out | connection refused | Failed to load resource: the server responded with a status of 502 (Bad Gateway) | connect() failed (111: Connection refused) while connecting to upstream | bad gateway | gateway timeout | 502 bad gateway | connect ECONNREFUSED 127.0.0.1:8080 | net::ERR_CONNECTION_REFUSED | upstream prematurely closed connection while reading response header',
  'trouble # 503':
    '503 | service unavailable | storage-unavailable | error: Refusing views and retrying: Can\'t open "d/views-2026-01-31.ndjson" for writing: it isn\'t a regular file; move it away',
  'trouble # A site went silent':
    'silent | views stopped | site stopped | site stopped sending | no more views since yesterday',
  'trouble # A view is stored twice':
    'duplicates | double counting | views counted twice | count twice | counts twice | stored twice | every view is counted twice | duplicate views',
  'trouble # Ask the doctor': "won't start | why won’t it start | viewlog does not start",
  'trouble # CORS error':
    "cors | cors blocked | cors error | cors policy | blocked by cors policy | has been blocked by CORS policy | Access to fetch at 'https://views.example.com/view' from origin 'https://www.example.com' has been blocked by CORS policy: No 'Access-Control-Allow-Origin' header is present on the requested resource. | access-control-allow-origin | cross-origin request blocked",
  'trouble # Disk full':
    'disk | space | full | no space left | ENOSPC | disk full | full disk | my disk is full | ENOSPC: no space left on device, write',
  'trouble # Exit 64': 'error: Unknown option --prot. Did you mean --port?',
  'trouble # Exit 69':
    "error: Can't reach the NATS cluster at 127.0.0.1:23399: connection refused | error: Can't listen on 127.0.0.1:8080 (--host, --port) | port in use | EADDRINUSE | listen EADDRINUSE: address already in use 127.0.0.1:8080 | port 8080 in use",
  'trouble # Exit 74':
    'error: The data directory "d2" is gone: it was moved or removed, or its disk isn\'t mounted; bring it back, then start viewlog again',
  'trouble # Exit 78': 'code=exited, status=78/CONFIG',
  'trouble # Exit 73':
    'error: Another viewlog is writing to "./data": process 31022, viewlog 0.1.0 (a723f11), running since 2026-11-27T18:48:08Z, at http://127.0.0.1:18977 (this one would be at http://127.0.0.1:18979); leave it running or end it: kill 31022 | read-only file system | already running | what does exit 73 mean | error: Another viewlog writes to "/var/lib/viewlog": process 2580 | permission denied | EACCES | EACCES: permission denied, open \'/var/lib/viewlog/projects.json\'',
  'trouble # Nothing arrives':
    'no views | views missing | nothing shows up | no data | failed to fetch | TypeError: Failed to fetch | NetworkError when attempting to fetch | NetworkError when attempting to fetch resource. | no data arrives | my views are missing',
  'trouble # The shipper sends nothing': 'vector sends nothing | filebeat harvester',
  "trouble # The status page doesn't open":
    'Another site sent you here: enter the address in a new tab instead. | Use the host name localhost, 127.0.0.1 or [::1]. | unauthorized | status page does not open | 401',
  'trouble # Trouble': 'not working | refused | error',
  'privacy # Single views':
    "delete a visitor | right to be forgotten | right to erasure | subject access | subject access request | erasure | delete views of one person | delete one visitor's data | gdpr erasure request | delete one visitor",
  "proxies # Visitors' addresses":
    'ip address | x-forwarded-for | client ip behind proxy | x-forwarded-for wrong | anonymize ip',
  "looking # What it can't show":
    'session | unique visitors | bounce rate | goaccess | a/b testing | google analytics | conversion funnel | screen resolution | scroll depth',
  'privacy # Do Not Track and Global Privacy Control':
    'gpc | do not track | global privacy control',
  'send # Clicks and downloads':
    'events | custom events | click tracking | track downloads | count button clicks | send an event when somebody clicks a button | track button click',
  'trouble # ERR_BLOCKED_BY_CLIENT':
    'adblock | ad blocker | ad-blocker | ublock | blocked by client | net::ERR_BLOCKED_BY_CLIENT',
  "trouble # The service doesn't start":
    "status=203/EXEC | service won't start | status=226/NAMESPACE | Start request repeated too quickly | start-limit-hit | Failed at step EXEC spawning: No such file or directory | viewlog.service: Failed at step NAMESPACE spawning /usr/bin/node: No such file or directory | Unable to locate executable '/usr/bin/node': No such file or directory",
  'reference # Health': 'health check',
  'trouble # Too many open files': 'too many open files | EMFILE',
};

const QUESTIONS = Object.entries(ANSWERS).flatMap(([place, phrases]) =>
  phrases.split(' | ').map((phrase) => [phrase, place] as const),
);

/** Nothing in the manual answers these. */
const UNKNOWN = [
  'bitcoin, blue button, click heatmap, dark mode',
  'import, import from matomo, java, ldap, machine learning',
  'mongodb, mysql, oauth, perl, pizza, quantum, redis, rust',
  'selinux, the weather tomorrow, two factor login with sms, what is it, (?:',
  'video playback, kafkaesque, change the logo',
]
  .join(', ')
  .split(', ');

/** The options of more than one word. */
const FLAGS = Object.keys(OPTIONS)
  .map((option) => flagOf(option as OptionName))
  .filter((flag) => flag.includes('-'));

describe('viewlog help', () => {
  it.each(QUESTIONS)('answers "%s" with %s', (phrase, place) => {
    const text = find(phrase) ?? '';
    const [topic = '', heading] = place.split(' # ');
    const [first = ''] = text.split('\n');
    expect(first.replace(/^#+ /, '')).toBe(heading);
    const isPage = text === TEXTS[`${topic}.md`];
    expect(isPage || text.includes(`The whole page: \`viewlog help ${topic}\``)).toBe(true);
  });

  it('prints the only section that has the word, even if it has the word in passing', () => {
    expect(manual.find('nfs').text).toMatch(/^## One writer\n/);
  });

  it.each(UNKNOWN)('claims no answer to "%s"', (phrase) => {
    expect(manual.find(phrase).text?.split('\n')[0]).toBe(undefined);
  });

  it('finds each section by the words with which it is listed', () => {
    const listed = UNKNOWN.concat(QUESTIONS.map(([phrase]) => phrase.toLowerCase()));
    for (const words of new Set(listed.flatMap((phrase) => manual.find(phrase).listed))) {
      const [topic, heading] = words;
      const page = TEXTS[`${topic}.md`]!;
      const text = manual.findNamed(words.join(' '))!;
      if (heading === undefined) expect(text).toBe(page);
      else expect([words, text.split('\n')[0]]).toEqual([words, `## ${heading}`]);
      expect(page).toContain(text.split('\n\nThe whole page:')[0]!);
    }
  });

  it('lists what an uncertain answer may have missed', () => {
    const { text, listed } = manual.find('jetstream permissions');
    expect(text).toBeUndefined();
    expect(listed).toContainEqual(['cluster', 'The NATS servers']);
  });

  it.each(FLAGS)('finds a section for the option "%s"', (option) => {
    const { text, listed } = manual.find(option);
    const found = [text, ...listed.map((words) => manual.findNamed(words.join(' ')))];
    expect(found.join('\n')).toContain(option);
  });

  it('finds a page or a heading for every synonym', () => {
    const lines = TEXTS['synonyms.txt']!.trimEnd().split('\n');
    const words = lines.flatMap((line) => line.split(': ')[1]!.split(', '));
    expect(new Set(words).size).toBe(words.length);
    for (const line of lines) {
      const [known = '', ...phrases] = line.split(/[:,] /);
      const text = find(known)!;
      for (const phrase of phrases) expect([phrase, find(phrase)]).toEqual([phrase, text]);
      const [heading = ''] = text.split('\n');
      if (!TOPICS.includes(known)) expect(heading.toLowerCase()).toContain(known);
    }
  });
});
