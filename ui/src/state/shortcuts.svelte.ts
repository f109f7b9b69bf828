/**
 * Keys that act without a focus of their own. Each screen says which it has; the dialog behind `?` lists exactly those
 * that work at the moment.
 *
 * Invariant: a single letter never acts while a person types, nor while a dialog is open.
 */
import { untrack } from 'svelte';

export interface Shortcut {
  /** As `KeyboardEvent.key`. */
  key: string;
  /** What it does, for the list. */
  title: string;
  run: () => void;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}

export class Shortcuts {
  list = $state.raw<Shortcut[]>([]);

  /** Adds shortcuts for as long as the caller's effect lives. The latest of one key wins. */
  add(...added: Shortcut[]): () => void {
    // The caller's effect must not depend on the list that it changes.
    this.list = [...untrack(() => this.list), ...added];
    return () => {
      this.list = this.list.filter((one) => !added.includes(one));
    };
  }

  /** Handles a key that nothing closer to the focus wanted. */
  readonly onkeydown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]')) return;
    if (isTyping(event.target)) {
      if (event.key === 'Escape') (event.target as HTMLElement).blur();
      return;
    }
    const found = this.list.findLast((one) => one.key === event.key);
    if (!found) return;
    event.preventDefault();
    found.run();
  };
}
