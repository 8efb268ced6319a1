// Computes on-policy distillation as an advantage: the sampled reverse KL to the teacher is taken
// off what the estimator gives.

/** Rows of different lengths. */
export type Rows = readonly (readonly number[])[]

export interface OpdBatch {
  readonly student_logps: Rows
  readonly teacher_logps: Rows
  readonly advantages: Rows
  /** Absent: every token counts. */
  readonly mask: Rows | undefined
}

/** A_t - coef (log S - log T)(y_t) m (slime apply_opd_kl_to_advantages). With a discount above 0
 * the penalty of a token is the discounted sum of its own and of those behind it, masked tokens
 * being steps too (tinker-cookbook incorporate_kl_penalty). */
export function opdAdvantages(
  { student_logps, teacher_logps, advantages, mask }: OpdBatch,
  { kl_coef, discount }: { readonly kl_coef: number; readonly discount: number },
): { advantages: number[][]; mean_reverse_kl: number } {
  const at = (b: number, t: number) => mask?.[b][t] ?? 1
  const kl = student_logps.map((row, b) =>
    row.map((s, t) => (at(b, t) === 0 ? 0 : (s - teacher_logps[b][t]) * at(b, t))),
  )
  const penalties = kl.map((row) => {
    const found = row.map((x) => -kl_coef * x)
    if (discount > 0)
      for (let t = found.length - 2; t >= 0; t--) found[t] += discount * found[t + 1]
    return found
  })
  const count = kl.reduce((sum, row, b) => sum + row.reduce((n, _, t) => n + at(b, t), 0), 0)
  const total = kl.reduce((sum, row) => sum + row.reduce((a, x) => a + x, 0), 0)
  return {
    advantages: advantages.map((row, b) => row.map((a, t) => a + penalties[b][t])),
    mean_reverse_kl: count > 0 ? total / count : 0,
  }
}
