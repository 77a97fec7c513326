import { element, setText, type View } from './dom.ts';

/** A command, and a button that copies it. */
export function command(): View<string> {
  const code = element('code', { tabindex: '0' });
  const button = element('button', { type: 'button' }, 'Copy');
  button.addEventListener('click', () => {
    void copy(code).then((copied) => {
      setText(button, copied ? 'Copied' : 'Press Ctrl+C');
      setTimeout(() => setText(button, 'Copy'), 2_000);
    });
  });
  return {
    node: element('div', { class: 'command' }, code, button),
    update(text) {
      if (code.textContent === text) return;
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
