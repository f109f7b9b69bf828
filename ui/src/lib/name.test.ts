import { describe, expect, it } from 'vitest';

import { boundProblem, nameProblem, typedNamespaces } from './name';

describe('the name rule', () => {
  it('takes what the backend takes', () => {
    for (const name of ['a', 'prod-eu-1', '0', 'a'.repeat(63)]) expect(nameProblem(name)).toBeNull();
  });

  it('says why a name does not fit', () => {
    for (const name of ['', '-a', 'a-', 'A', 'a_b', 'a/b', '..', 'ä', 'a'.repeat(64)]) {
      expect(nameProblem(name), name).not.toBeNull();
    }
  });
});

describe('a bound', () => {
  it('of nothing is refused and never the whole cluster', () => {
    expect(boundProblem(typedNamespaces(' , \n '))).not.toBeNull();
  });

  it('keeps each namespace once, in the order typed', () => {
    expect(typedNamespaces('b, a\nb')).toEqual(['b', 'a']);
  });
});
