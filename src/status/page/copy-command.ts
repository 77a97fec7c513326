import { element, setText, type View } from './dom.ts';

/** A command, and a button that copies it; hidden where there is none. */
export function command(): View<string | undefined> {
  const code = element('code', { tabindex: '0' });
  const label = element('span', {}, 'Copy');
  const what = element('span', { class: 'unseen' });
  const button = element('button', { type: 'button' }, label, ' ', what);
  button.addEventListener('click', () => {
    void copy(code).then((copied) => {
      setText(label, copied ? 'Copied' : 'Press Ctrl+C');
      setTimeout(() => setText(label, 'Copy'), 2_000);
    });
  });
  const node = element('div', { class: 'command', hidden: '' }, code, button);
  return {
    node,
    update(text = '') {
      node.hidden = text === '';
      if (code.textContent === text) return;
      setText(what, text);
      // A line may end between words only: what is read off a page broken within one is wrong.
      const words = text.split(' ').flatMap((word) => [element('span', {}, word), ' ']);
      code.replaceChildren(...words.slice(0, -1));
    },
  };
}

/** Where the page has no clipboard (plain HTTP from another machine) the text is selected. */
async function copy(code: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(code.textContent ?? '');
    return true;
  } catch {
    getSelection()?.selectAllChildren(code);
    return false;
  }
}
