/**
 * The name rule of a registration, as the backend holds it: a DNS label (RFC 1123), because the name becomes one
 * segment of a path in the KMS. The backend decides; this only spares a person the round trip.
 */

/** The longest name in characters. */
export const MAX_NAME = 63;

/** Why a name does not fit, in words; `null` where it fits. */
export function nameProblem(name: string, subject = 'The name'): string | null {
  const trimmed = name.trim();
  if (trimmed === '') return `${subject} is missing.`;
  if (trimmed.length > MAX_NAME) {
    return `${subject} has ${trimmed.length} characters; ${MAX_NAME} are the most.`;
  }
  if (/[A-Z]/.test(trimmed)) return 'Only lower-case letters, digits and hyphens.';
  const odd = /[^a-z0-9-]/u.exec(trimmed);
  if (odd) return `“${odd[0]}” does not fit: only lower-case letters, digits and hyphens.`;
  if (trimmed.startsWith('-') || trimmed.endsWith('-')) return 'It begins and ends with a letter or a digit.';
  return null;
}

/** The namespaces that a person typed: separated by blanks, commas or new lines, each once, in their order. */
export function typedNamespaces(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/u).filter((name) => name !== ''))];
}

/** Why a bound does not fit; a bound of nothing is refused rather than read as the whole cluster. */
export function boundProblem(names: readonly string[]): string | null {
  if (names.length === 0) return 'Name at least one namespace, or choose the whole cluster.';
  for (const name of names) {
    const problem = nameProblem(name, `“${name}”`);
    if (problem) return names.length === 1 ? problem : `${name}: ${problem}`;
  }
  return null;
}
