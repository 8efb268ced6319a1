// Writes the numbers of settings, in names, sentences and fields alike.

/** A number as people write it: 0.0003 as 3e-4. */
export function numberWords(value: number): string {
  const size = Math.abs(value)
  const isPlain = value === 0 || (size >= 1e-3 && size < 1e6)
  return isPlain
    ? String(Number(value.toPrecision(6)))
    : Number(value.toPrecision(6)).toExponential().replace('e+', 'e')
}
