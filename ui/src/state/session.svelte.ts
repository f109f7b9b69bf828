/** Who is signed in, or how far signing in has got. The backend decides; this repeats what it says. */
import type { Backend } from '../backend/backend';
import type { AppEvent, DeploymentList, SessionView } from '../backend/bindings';
import { Action, Reading } from './reading.svelte';

type SignedIn = Extract<SessionView, { state: 'signedIn' }>;

export class Session {
  readonly reading = new Reading<SessionView>();
  readonly deployments = new Reading<DeploymentList>();
  readonly action = new Action();
  readonly #backend: Backend;

  readonly view = $derived(this.reading.value);
  readonly signedIn = $derived<SignedIn | null>(this.view?.state === 'signedIn' ? this.view : null);

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  async start(): Promise<void> {
    await Promise.all([
      this.reading.load(() => this.#backend.call('session_get')),
      this.deployments.load(() => this.#backend.call('deployments_list')),
    ]);
  }

  async signIn(deployment: string): Promise<void> {
    await this.#become(() => this.#backend.call('sign_in_start', { deployment }));
  }

  async startDemo(): Promise<void> {
    await this.#become(() => this.#backend.call('demo_start'));
  }

  async cancel(): Promise<void> {
    await this.#become(() => this.#backend.call('sign_in_cancel'));
  }

  async chooseOrg(org: string): Promise<void> {
    await this.#become(() => this.#backend.call('org_choose', { org }));
  }

  async signOut(): Promise<void> {
    await this.#become(() => this.#backend.call('sign_out'));
  }

  async openAgain(): Promise<boolean> {
    return (
      (await this.action.run(async () => (await this.#backend.call('sign_in_open_again'), true))) ?? false
    );
  }

  async copyLink(): Promise<boolean> {
    return (
      (await this.action.run(async () => (await this.#backend.call('sign_in_copy_link'), true))) ?? false
    );
  }

  async importDeployment(): Promise<void> {
    const list = await this.action.run(() => this.#backend.call('deployment_choose_file'));
    if (list) this.deployments.put(list);
  }

  async removeDeployment(deployment: string): Promise<void> {
    const list = await this.action.run(() => this.#backend.call('deployment_remove', { deployment }));
    if (list) this.deployments.put(list);
  }

  hear(event: AppEvent): void {
    if (event.type === 'session') this.reading.put(event.data);
    if (event.type === 'deployments') this.deployments.put(event.data);
  }

  async #become(work: () => Promise<SessionView>): Promise<void> {
    const view = await this.action.run(work);
    if (view) this.reading.put(view);
  }
}
