// The page's only way to make elements. Text goes in as text nodes, never as markup: much of it
// is what strangers sent.

import type { Words } from '../headline.ts';

/** A part of the page, and how to bring it up to date. */
export interface View<T> {
  readonly node: Element;
  /** @param nowMs the collector's clock. */
  update(item: T, nowMs: number): void;
}

const SVG = 'http://www.w3.org/2000/svg' as const;

/** An element with attributes and children; strings become text. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElement {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function svg(name: string, attributes: Readonly<Record<string, string>> = {}): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// What reorders the text after it, and what cannot be seen, but for tabs and line ends.
const HIDDEN =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Shows that there was a character which would turn a line around, or hide. */
export const seen = (text: string): string => text.replace(HIDDEN, '\ufffd');

/** Sets text only where it differs, so that what is selected or read out stays undisturbed. */
export function setText(node: Element, text: string): void {
  const shown = seen(text);
  if (node.textContent !== shown) node.textContent = shown;
}

/** Words, in which a name turns nothing around. */
export function setWords(node: Element, words: Words): void {
  const parts = words.map((word) => {
    if (typeof word === 'string') return word;
    const name = element('bdi', {}, seen(word.name));
    return word.href === undefined ? name : element('a', { href: word.href }, name);
  });
  const made = element('span', {}, ...parts);
  if (node.innerHTML !== made.innerHTML) node.replaceChildren(...made.childNodes);
}

/**
 * Keeps one child for each item, in their order. Children stay as long as their item does, and
 * with them the focus, the selection and what is unfolded.
 */
export function list<T>(
  parent: Element,
  keyOf: (item: T) => string,
  create: () => View<T>,
): (items: readonly T[], nowMs: number) => void {
  let views = new Map<string, View<T>>();
  return (items, nowMs) => {
    const next = new Map<string, View<T>>();
    const focused = document.activeElement;
    let previous: Element | undefined;
    for (const item of items) {
      const key = keyOf(item);
      const view = views.get(key) ?? create();
      view.update(item, nowMs);
      const place = previous === undefined ? parent.firstElementChild : previous.nextElementSibling;
      if (place !== view.node) parent.insertBefore(view.node, place);
      previous = view.node;
      next.set(key, view);
    }
    for (const [key, view] of views) if (!next.has(key)) view.node.remove();
    views = next;
    // One that was moved has lost it.
    if (focused !== document.activeElement && parent.contains(focused)) {
      (focused as HTMLElement).focus({ preventScroll: true });
    }
  };
}
