// Computes MiniLLM: the sampled reverse KL as a return, and the whole reverse KL of each step.
import type { Numbers } from './distribution.ref.ts'

/** What masked tokens count in a length. */
const MASKED = 1e-4

/** r = (log T - log S)(y) m. gamma 0: A = r. Else A_t = Σ_{i ≥ t} gamma^i r_i, where the power
 * counts from the row's first token, not from t; with length_normalization divided by the same sum
 * of the mask (Gu et al., arXiv 2306.08543; TRL MiniLLMTrainer._compute_advantage). [B, T] → [B,
 * T]. */
export function minillmAdvantages(
  studentLogps: Numbers,
  teacherLogps: Numbers,
  mask: Numbers,
  columns: number,
  { gamma, length_normalization }: { gamma: number; length_normalization: boolean },
): Float64Array {
  const rewards = Float64Array.from(mask, (m, i) =>
    m === 0 ? 0 : (teacherLogps[i] - studentLogps[i]) * m,
  )
  if (gamma === 0) return rewards
  const advantages = new Float64Array(rewards.length)
  for (let first = 0; first < rewards.length; first += columns) {
    let sum = 0
    let length = 0
    for (let t = columns - 1; t >= 0; t--) {
      const power = gamma ** t
      sum += power * rewards[first + t]
      length += power * (mask[first + t] === 0 ? MASKED : mask[first + t])
      advantages[first + t] = length_normalization ? sum / length : sum
    }
  }
  return advantages
}
