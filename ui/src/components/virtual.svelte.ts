/**
 * TanStack's virtualiser behind runes: which rows of a long list stand in the window, and where.
 *
 * Invariant: the row that has the focus is always among them, so that scrolling never loses the focus.
 */
import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualItem,
} from '@tanstack/virtual-core';
import { untrack } from 'svelte';

export interface VirtualList {
  count: number;
  /** Height of a row in pixels, known before it is drawn. */
  height: (index: number) => number;
  key: (index: number) => string;
  /** A row to keep whatever is scrolled to; -1 for none. */
  keep: number;
}

export class VirtualRows {
  #version = $state(0);
  readonly #virtualizer: Virtualizer<HTMLElement, HTMLElement>;
  #scroller: HTMLElement | null = null;

  constructor(
    readonly list: () => VirtualList,
    /** Height of what sticks to the top of the scroller. */
    readonly head: () => number,
  ) {
    this.#virtualizer = new Virtualizer(this.#options(untrack(list)));
    $effect.pre(() => {
      const options = this.#options(list());
      untrack(() => {
        this.#virtualizer.setOptions(options);
        this.#virtualizer.measure();
      });
    });
    $effect(() => {
      list();
      untrack(() => {
        this.#virtualizer._willUpdate();
      });
    });
  }

  /** Ties the list to the element that scrolls; for `{@attach}`. */
  readonly attach = (scroller: HTMLElement): (() => void) => {
    this.#scroller = scroller;
    const unmount = this.#virtualizer._didMount();
    this.#virtualizer._willUpdate();
    return () => {
      this.#scroller = null;
      unmount();
    };
  };

  get items(): VirtualItem[] {
    void this.#version;
    return this.#virtualizer.getVirtualItems();
  }

  get height(): number {
    void this.#version;
    return this.#virtualizer.getTotalSize();
  }

  /** How many rows fit into the window at once. */
  get page(): number {
    return Math.max(1, this.#virtualizer.getVirtualItems().length - 4);
  }

  reveal(index: number): void {
    this.#virtualizer.scrollToIndex(index, { align: 'auto' });
  }

  #options(list: VirtualList) {
    return {
      count: list.count,
      estimateSize: list.height,
      getItemKey: list.key,
      getScrollElement: () => this.#scroller,
      scrollPaddingStart: this.head(),
      overscan: 8,
      rangeExtractor: (range: Parameters<typeof defaultRangeExtractor>[0]) => {
        const shown = defaultRangeExtractor(range);
        if (list.keep < 0 || list.keep >= list.count || shown.includes(list.keep)) return shown;
        return [...shown, list.keep].sort((a, b) => a - b);
      },
      observeElementRect,
      observeElementOffset,
      scrollToFn: elementScroll,
      onChange: () => {
        this.#version += 1;
      },
    };
  }
}
