/** Light, dark, or as the system has it. The choice is kept on this device; it is the only thing the page keeps. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'muster.theme';

function isTheme(value: unknown): value is Theme {
  return value === 'system' || value === 'light' || value === 'dark';
}

export class ThemeChoice {
  #choice = $state<Theme>('system');

  constructor() {
    const asked = __STORY__ ? new URLSearchParams(window.location.search).get('theme') : null;
    const kept = asked ?? this.#kept();
    if (isTheme(kept)) this.#choice = kept;
    this.#apply();
  }

  get choice(): Theme {
    return this.#choice;
  }

  set choice(theme: Theme) {
    this.#choice = theme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // A web view without storage forgets the choice; nothing else depends on it.
    }
    this.#apply();
  }

  #kept(): string | null {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  }

  #apply(): void {
    const root = document.documentElement;
    if (this.#choice === 'system') delete root.dataset.theme;
    else root.dataset.theme = this.#choice;
  }
}
