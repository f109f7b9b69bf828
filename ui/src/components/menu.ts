import type { LucideIcon } from '@lucide/svelte';

/** One entry of a {@link Menu}. */
export type MenuEntry =
  | { kind: 'line'; id: string }
  | { kind: 'group'; id: string; title: string }
  | {
      kind: 'action';
      id: string;
      title: string;
      note?: string;
      icon?: LucideIcon;
      checked?: boolean;
      danger?: boolean;
      disabled?: boolean;
      run: () => void;
    };
