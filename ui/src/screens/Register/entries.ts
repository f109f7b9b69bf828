/** The staged contexts as one list: a row per context, and one for a file that is none. */
import type { StagedContext, StagedFile } from '../../backend/bindings';
import { plural } from '../../lib/format';

export interface Entry {
  /** Where the entry stands in the address. */
  id: string;
  key: string;
  index: number;
  file: StagedFile;
  /** `null` where the file as a whole is refused. */
  context: StagedContext | null;
}

export type Verdict = 'good' | 'rotates' | 'warned' | 'refused';

export function entriesOf(files: readonly StagedFile[]): Entry[] {
  const entries: Entry[] = [];
  for (const file of files) {
    const contexts = file.contexts.length === 0 ? [null] : file.contexts;
    for (const context of contexts) {
      const key = `${file.id}/${context?.name ?? ''}`;
      entries.push({ id: file.id, key, index: entries.length, file, context });
    }
  }
  return entries;
}

export function verdictOf(entry: Entry): Verdict {
  if (entry.context === null || entry.file.refusal || entry.context.refusals.length > 0) return 'refused';
  if (entry.context.registeredAs !== null) return 'rotates';
  return entry.context.warnings.length > 0 ? 'warned' : 'good';
}

/** `5 contexts: 3 can be registered, 2 are refused; 1 file cannot be used`. */
export function tally(entries: readonly Entry[]): string {
  const contexts = entries.filter((entry) => entry.context !== null);
  const refused = contexts.filter((entry) => verdictOf(entry) === 'refused').length;
  const good = contexts.length - refused;
  const files = entries.length - contexts.length;
  const verdicts = [];
  if (good > 0) verdicts.push(`${good} can be registered`);
  if (refused > 0) verdicts.push(`${refused} ${refused === 1 ? 'is' : 'are'} refused`);
  const words = [];
  if (contexts.length > 0) words.push(`${plural(contexts.length, 'context')}: ${verdicts.join(', ')}`);
  if (files > 0) words.push(`${plural(files, 'file')} cannot be used`);
  return words.join('; ');
}
