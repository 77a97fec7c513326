import type { Random } from './random.ts';

/** The data directory. */
export const DATA = '/data';

export type Kind = 'file' | 'directory' | 'fifo';

/** A file apart from its names: its bytes in the page cache, and how many of them are durable. */
export class Inode {
  readonly number: number;
  readonly kind: Kind;
  /** The name under which the file was created. */
  readonly name: string;
  /** The bytes that survive any power cut. */
  durableBytes = 0;
  /** True: a sync has failed, and no later sync of the same process makes anything durable. */
  isPoisoned = false;
  /** Set once the file no longer has a name: it was moved or removed, or a power cut lost it. */
  gone: { readonly how: 'moved' | 'removed' | 'lost'; readonly sinceMs: number } | undefined;
  size = 0;
  #buffer = Buffer.alloc(1024);

  constructor(number: number, kind: Kind, name: string) {
    this.number = number;
    this.kind = kind;
    this.name = name;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.size);
  }

  append(bytes: Uint8Array): void {
    if (this.size + bytes.length > this.#buffer.length) {
      const grown = Buffer.alloc(2 * (this.size + bytes.length));
      grown.set(this.bytes);
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.size);
    this.size += bytes.length;
  }

  /** Cuts the file short, as another program would. */
  truncate(size: number): void {
    this.size = size;
    this.durableBytes = Math.min(size, this.durableBytes);
  }

  makeDurable(): void {
    if (!this.isPoisoned) this.durableBytes = this.size;
  }

  /** Keeps any prefix of the bytes that weren't synced, followed by NULs or not. */
  cutPower(random: Random): void {
    const lost = this.size - this.durableBytes;
    if (lost === 0) return;
    const prefix = random.pick([0, lost, random.below(lost + 1), random.below(lost + 1)]);
    const nuls = random.chance(0.3) ? random.below(lost - prefix + 1) : 0;
    this.size = this.durableBytes + prefix;
    this.append(Buffer.alloc(nuls));
    this.durableBytes = this.size;
  }
}

type Names = Map<string, Inode>;

/**
 * One directory on a disk. A power cut loses bytes of files, and changes of names in the directory,
 * that weren't synced.
 */
export class Disk {
  readonly root = new Inode(1, 'directory', DATA);
  readonly canDsync: boolean;
  /** False: the disk makes changes of names durable immediately. */
  readonly canSyncNames: boolean;
  /** Bytes that can still be written. */
  spaceBytes = Number.POSITIVE_INFINITY;
  /** The error of a write on the full disk. Quotas and limits don't show in the free space. */
  fullErrno: 'ENOSPC' | 'EDQUOT' | 'EFBIG' = 'ENOSPC';
  /** All files, including removed files. */
  readonly inodes: Inode[] = [];
  #names: Names = new Map();
  #durableNames: Names = new Map();
  /** Changes of names since the directory was synced. */
  #unsynced: ((names: Names) => void)[] = [];

  constructor(random: Random) {
    this.canDsync = random.chance(0.5);
    this.canSyncNames = random.chance(0.9);
  }

  get freeBytes(): number {
    return this.fullErrno === 'ENOSPC' ? Math.min(this.spaceBytes, 1e9) : 1e9;
  }

  names(): string[] {
    return [...this.#names.keys()];
  }

  /** The names of the regular files. */
  files(): string[] {
    const entries = [...this.#names].filter(([, { kind }]) => kind === 'file');
    return entries.map(([name]) => name);
  }

  find(path: string): Inode | undefined {
    return path === DATA ? this.root : this.#names.get(path.slice(DATA.length + 1));
  }

  create(name: string, kind: Kind = 'file'): Inode {
    const inode = new Inode(this.inodes.length + 2, kind, name);
    this.inodes.push(inode);
    this.#change((names) => names.set(name, inode));
    return inode;
  }

  /** Removes a file's name. A process that has the file open can still write to it. */
  detach(name: string, how: 'moved' | 'removed', nowMs: number): void {
    const inode = this.#names.get(name);
    if (inode === undefined) return;
    this.#change((names) => names.delete(name));
    inode.gone = { how, sinceMs: nowMs };
  }

  /** Gives a file the name of another file, which is removed. */
  rename(from: string, to: string, nowMs: number): void {
    const inode = this.#names.get(from)!;
    const replaced = this.#names.get(to);
    this.#change((names) => {
      names.delete(from);
      names.set(to, inode);
    });
    if (replaced !== undefined) replaced.gone = { how: 'removed', sinceMs: nowMs };
  }

  syncNames(): void {
    this.#durableNames = new Map(this.#names);
    this.#unsynced = [];
  }

  /** @param name the file's present name, if the file was renamed. */
  isNameDurable(inode: Inode, name = inode.name): boolean {
    return this.#durableNames.get(name) === inode;
  }

  /** The file system writes names in order, so a power cut may keep any prefix of the changes. */
  cutPower(random: Random, nowMs: number): void {
    const happened = random.below(this.#unsynced.length + 1);
    for (const change of this.#unsynced.slice(0, happened)) change(this.#durableNames);
    this.#names = new Map(this.#durableNames);
    this.#unsynced = [];
    const named = new Set(this.#names.values());
    for (const inode of this.inodes) {
      if (named.has(inode)) inode.gone = undefined;
      else inode.gone ??= { how: 'lost', sinceMs: nowMs };
      if (inode.gone?.how !== 'removed') inode.cutPower(random);
    }
  }

  #change(change: (names: Names) => void): void {
    change(this.#names);
    if (this.canSyncNames) this.#unsynced.push(change);
    else change(this.#durableNames);
  }
}
