// Writes numbers of phases as signs.

/** Number of a phase as one sign, so that neighbours never read as one number: ①, ②, …; common
 * fonts end at ⑩. */
export const phaseMark = (number: number): string =>
  number <= 10 ? String.fromCodePoint(0x245f + number) : `(${number})`
