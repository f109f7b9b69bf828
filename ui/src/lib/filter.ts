/**
 * The filter of every table: words, all of which must occur somewhere in the row. A word that begins with `-` must
 * not occur. Case is ignored. Deliberately absent: a query language; counts per state are buttons of their own.
 */

export type Match = (text: string) => boolean;

/** Makes the test of a typed filter. */
export function matcher(typed: string): Match {
  const words = typed.toLowerCase().split(/\s+/u).filter(Boolean);
  const wanted = words.filter((word) => !word.startsWith('-'));
  const unwanted = words
    .filter((word) => word.startsWith('-') && word.length > 1)
    .map((word) => word.slice(1));
  if (wanted.length === 0 && unwanted.length === 0) return () => true;
  return (text) => {
    const low = text.toLowerCase();
    return wanted.every((word) => low.includes(word)) && !unwanted.some((word) => low.includes(word));
  };
}
