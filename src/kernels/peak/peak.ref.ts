/** Computes peak_fma in f64: sixteen values of invocation `i`, each 4 · iterations times x · scale
 * + offset, summed. */
export function peakFmaRef(
  i: number,
  { iterations, scale, offset }: { iterations: number; scale: number; offset: number },
): number {
  let sum = 0
  for (let value = 0; value < 16; value++) {
    let x = (i % 64) + value
    for (let step = 0; step < 4 * iterations; step++) x = x * scale + offset
    sum += x
  }
  return sum
}
