/** Which backend this page has: the app's own, the story (where the build has one), or the bridge it was served by. */
import type { Backend } from './backend';

export async function chooseBackend(): Promise<Backend> {
  if ('__TAURI_INTERNALS__' in window) {
    return (await import('./tauri')).tauriBackend();
  }
  if (__STORY__) {
    const story = new URLSearchParams(window.location.search).get('story');
    if (story !== null) return (await import('./story/backend')).storyBackend(story);
  }
  return (await import('./http')).httpBackend();
}
