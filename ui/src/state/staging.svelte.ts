/**
 * Files that were dropped, chosen or pasted, and what the person makes of each context before anything is sealed.
 *
 * Invariants: the whole cluster is chosen, never what is left when nothing is typed; a preview belongs to the scope it
 * was made for. Deliberately absent: the files' contents, which never leave the backend.
 */
import type { Backend } from '../backend/backend';
import type {
  AppEvent,
  ClusterRow,
  ProbePreview,
  RegisterStep,
  ScopeView,
  StagedContext,
  StagedFile,
} from '../backend/bindings';
import { boundProblem, nameProblem, typedNamespaces } from '../lib/name';
import { Action, Reading } from './reading.svelte';

/** What would be registered, as the person edits it. */
export class Draft {
  name = $state('');
  provider = $state('');
  scopeKind = $state<ScopeView['kind'] | null>(null);
  namespaces = $state('');
  isDefault = $state(false);

  readonly preview = new Reading<ProbePreview>();
  readonly action = new Action();
  step = $state<RegisterStep | null>(null);
  registered = $state.raw<ClusterRow | null>(null);

  constructor(context: StagedContext) {
    this.name = context.registeredAs ?? context.suggestedName;
    this.provider = context.provider ?? '';
    // A context that names a namespace suggests that bound; it does not choose it.
    this.namespaces = context.namespace ?? '';
  }

  // Getters rather than `$derived`: a draft outlives the component that first asked for it.
  get typed(): string[] {
    return typedNamespaces(this.namespaces);
  }

  get nameProblem(): string | null {
    return nameProblem(this.name);
  }

  get scopeProblem(): string | null {
    if (this.scopeKind === null) return 'Choose what the registration may address.';
    return this.scopeKind === 'namespaces' ? boundProblem(this.typed) : null;
  }

  /** The scope as it would be registered; `null` while it is not chosen or does not fit. */
  get scope(): ScopeView | null {
    if (this.scopeKind === null || this.scopeProblem !== null) return null;
    return this.scopeKind === 'wholeCluster'
      ? { kind: 'wholeCluster' }
      : { kind: 'namespaces', names: this.typed };
  }
}

export class Staging {
  files = $state.raw<StagedFile[]>([]);
  dragging = $state(false);
  readonly taking = new Action();
  readonly #backend: Backend;
  readonly #drafts = new Map<string, Draft>();

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  readonly contexts = $derived(
    this.files.flatMap((file) => file.contexts.map((context) => ({ file, context }))),
  );

  async load(): Promise<void> {
    const files = await this.taking.run(() => this.#backend.call('staged_list'));
    if (files) this.files = files;
  }

  async choose(): Promise<void> {
    const files = await this.taking.run(() => this.#backend.call('stage_choose_files'));
    if (files) this.files = files;
  }

  async paste(): Promise<void> {
    const files = await this.taking.run(() => this.#backend.call('stage_paste'));
    if (files) this.files = files;
  }

  async discard(id: string): Promise<void> {
    const files = await this.taking.run(() => this.#backend.call('staged_discard', { id }));
    if (!files) return;
    this.files = files;
    for (const key of this.#drafts.keys()) if (key.startsWith(`${id}/`)) this.#drafts.delete(key);
  }

  /** The edits of one context; they survive looking at another. */
  draft(id: string, context: StagedContext): Draft {
    const key = `${id}/${context.name}`;
    let draft = this.#drafts.get(key);
    if (!draft) {
      draft = new Draft(context);
      this.#drafts.set(key, draft);
    }
    return draft;
  }

  async probe(id: string, context: string, draft: Draft): Promise<void> {
    const { scope } = draft;
    if (!scope) return;
    await draft.preview.load(
      () => this.#backend.call('staged_probe', { id, context, scope }),
      JSON.stringify(scope),
    );
  }

  async register(id: string, context: string, draft: Draft): Promise<void> {
    const { scope } = draft;
    if (!scope || draft.nameProblem) return;
    draft.step = 'checking';
    const row = await draft.action.run(() =>
      this.#backend.call('staged_register', {
        id,
        context,
        name: draft.name.trim(),
        provider: draft.provider.trim(),
        scope,
        default: draft.isDefault,
      }),
    );
    if (row) {
      draft.registered = row;
      draft.step = 'done';
    }
  }

  hear(event: AppEvent): void {
    if (event.type === 'staged') this.files = event.data;
    if (event.type === 'dragging') this.dragging = event.data;
    if (event.type === 'register') {
      const draft = this.#drafts.get(`${event.data.id}/${event.data.context}`);
      if (draft?.action.running) draft.step = event.data.step;
    }
  }

  forget(): void {
    this.files = [];
    this.dragging = false;
    this.#drafts.clear();
  }
}
