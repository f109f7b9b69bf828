/** Everything that outlives a screen, wired once and handed down by context. */
import { createContext } from 'svelte';

import type { Backend } from '../backend/backend';
import type { AppEvent, Note } from '../backend/bindings';
import { Clock } from './clock.svelte';
import { Fleet } from './fleet.svelte';
import { LiveUseChoice } from './live-use.svelte';
import { Router } from './router.svelte';
import { Session } from './session.svelte';
import { Shortcuts } from './shortcuts.svelte';
import { Staging } from './staging.svelte';
import { ThemeChoice } from './theme.svelte';

export class Muster {
  readonly clock = new Clock();
  readonly router = new Router();
  readonly theme = new ThemeChoice();
  readonly shortcuts = new Shortcuts();
  readonly liveUse = new LiveUseChoice();
  readonly session: Session;
  readonly fleet: Fleet;
  readonly staging: Staging;
  /** What the backend said last, for the line at the foot of the window. */
  notice = $state.raw<Note | null>(null);
  #org: string | null = null;

  constructor(readonly backend: Backend) {
    this.session = new Session(backend);
    this.fleet = new Fleet(backend);
    this.staging = new Staging(backend);
  }

  /** Starts listening and asks who is signed in. Returns how to stop. */
  start(): () => void {
    const stops = [this.clock.run(), this.router.follow(), this.backend.listen(this.#hear)];
    void this.session.start();
    return () => {
      for (const stop of stops) stop();
    };
  }

  readonly #hear = (event: AppEvent): void => {
    this.session.hear(event);
    this.fleet.hear(event);
    this.#hearStaged(event);
    if (event.type === 'notice') this.notice = event.data;
  };

  #hearStaged(event: AppEvent): void {
    const had = new Set(this.staging.files.map((file) => file.id));
    this.staging.hear(event);
    // A drop is an answer to nothing the page asked, so the page goes to where the verdicts are.
    if (event.type === 'staged' && this.session.signedIn && event.data.some((file) => !had.has(file.id))) {
      this.router.go({ screen: 'register', staged: null });
    }
  }

  /** Forgets everything of an org that is no longer the session's. */
  enter(org: string | null): void {
    if (org === this.#org) return;
    if (this.#org !== null) {
      this.fleet.forget();
      this.staging.forget();
      this.router.go({ screen: 'fleet' });
    }
    this.#org = org;
  }
}

export const [getMuster, setMuster] = createContext<Muster>();
