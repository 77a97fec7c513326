import { originKey } from '../projects/origins.ts';
import { getOrCreate } from './tally.ts';

// Hosts that a site's owner sees as one source: searches, networks and mail services, by their
// hosts and by the ids of their Android apps (`android-app://com.slack`). Any other host is a
// source of its own, so a service needs a row only if it has several hosts, or a host that doesn't
// show its name.
const HOSTS: Readonly<Record<string, string>> = {
  Bing: 'bing.com',
  ChatGPT: 'chatgpt.com chat.openai.com',
  DuckDuckGo: 'duckduckgo.com com.duckduckgo.mobile.android',
  Ecosia: 'ecosia.org com.ecosia.android',
  Facebook: 'facebook.com fb.me com.facebook.katana',
  Gmail: 'mail.google.com com.google.android.gm',
  Google: 'com.google.android.googlequicksearchbox',
  'Google News': 'news.google.com com.google.android.apps.magazines',
  'Hacker News': 'news.ycombinator.com',
  Instagram: 'instagram.com com.instagram.android',
  LinkedIn: 'linkedin.com lnkd.in com.linkedin.android',
  Messenger: 'messenger.com com.facebook.orca',
  'Microsoft Teams': 'teams.microsoft.com com.microsoft.teams',
  Outlook: 'outlook.live.com outlook.office.com outlook.office365.com outlook.cloud.microsoft',
  Pinterest: 'com.pinterest',
  Reddit: 'reddit.com com.reddit.frontpage',
  Slack: 'slack.com com.slack',
  Telegram: 't.me telegram.org org.telegram.messenger',
  Threads: 'threads.net threads.com',
  VK: 'vk.com com.vkontakte.android',
  WhatsApp: 'whatsapp.com wa.me com.whatsapp',
  Wikipedia: 'wikipedia.org',
  X: 'x.com twitter.com t.co com.twitter.android',
  Yandex: 'ya.ru',
  YouTube: 'youtube.com youtu.be com.google.android.youtube',
};

const NAMES = new Map(
  Object.entries(HOSTS).flatMap(([name, hosts]) => hosts.split(' ').map((host) => [host, name])),
);

/** Sources with a host per country: `google.no`, `google.co.uk`, `no.search.yahoo.com`. */
const EVERYWHERE = /(?:^|\.)(google|pinterest|yahoo|yandex)\.(?:com?\.)?[a-z]{2,3}$/;

/** Returns the source's name for a host in lower case; if it has no name, the host. */
function sourceOf(host: string): string {
  for (let rest = host; rest !== ''; rest = rest.slice(rest.indexOf('.') + 1 || rest.length)) {
    const name = NAMES.get(rest);
    if (name !== undefined) return name;
  }
  const word = EVERYWHERE.exec(host)?.[1];
  if (word !== undefined) return word.charAt(0).toUpperCase() + word.slice(1);
  return withoutWww(host);
}

const withoutWww = (host: string): string => host.replace(/^www\.(?=[^.]+\.)/, '');

/** The label of an absent text. */
export const NONE = '(none)';
/** Labels of sources that have neither a name nor a host. */
export const INTERNAL = '(internal)';
export const NOT_AN_ADDRESS = '(not an address)';

/** The dot after a full domain name isn't part of the host. */
const HOST = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?(\[[^/?#\]]+\]|[^/?#: ]+?)\.?(?:[/?#: ]|$)/i;
/** A host name has at most 253 characters. */
const SITE_LENGTH_MAX = 300;
/** The number of sources in memory per project. */
const REMEMBERED_MAX = 1_000;

/** Finds the sources of a project's views. */
export class Sources {
  readonly #own = new Set<string>();
  readonly #ownSuffixes: string[] = [];
  readonly #remembered = new Map<string, string>();

  /** @param origins the project's own origins, as in the projects file. */
  constructor(origins: readonly string[] = []) {
    for (const origin of origins) {
      const host = HOST.exec(originKey(origin))?.[1] ?? '';
      if (host.startsWith('*')) this.#ownSuffixes.push(host.slice(1));
      else this.#own.add(withoutWww(host));
    }
  }

  /** Returns a name, a host, or one of the constants above. */
  of(referrer: string): string {
    if (referrer === '') return NONE;
    // The site is the text before the path. Remembering its source is faster than matching its
    // host.
    const end = referrer.indexOf('/', referrer.indexOf('://') + '://'.length);
    const site = (end < 0 ? referrer : referrer.slice(0, end)).slice(0, SITE_LENGTH_MAX);
    if (this.#remembered.size > REMEMBERED_MAX) this.#remembered.clear();
    return getOrCreate(this.#remembered, site, (copy) => this.#sourceOf(copy));
  }

  #sourceOf(site: string): string {
    const host = HOST.exec(site)?.[1]?.replace(/[A-Z]+/g, lowerCase);
    if (host === undefined) return /^\/(?!\/)/.test(site) ? INTERNAL : NOT_AN_ADDRESS;
    const isOwn =
      this.#own.has(withoutWww(host)) || this.#ownSuffixes.some((suffix) => host.endsWith(suffix));
    return isOwn ? INTERNAL : sourceOf(host);
  }
}

/** Changes ASCII letters only: bytes beyond ASCII are parts of characters. */
const lowerCase = (letters: string): string => letters.toLowerCase();
