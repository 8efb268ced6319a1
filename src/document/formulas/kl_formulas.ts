// Writes the KL estimates of one token as formulas.
import type { RlPhase } from '../../rl/config/phase.ts'
import { clamp } from '../../rl/losses/response.ts'
import { type Formula, line, type Values } from '../../rl/math/formula.ts'

type KlPenalty = RlPhase['algorithm']['kl_penalty']

/** What the KL estimators are made of. */
export interface KlInput {
  readonly log_prob: number
  readonly ref_log_prob: number
  readonly kl: number
  /** Name of the policy's log-prob: KL in the reward is of the old policy. */
  readonly policy: 'log_prob' | 'old_log_prob'
}

/** A KL estimate of one token (kernels/kl/kl_penalty.ts); a name with a plus sign has the same
 * value. */
export function klFormula(kind: KlPenalty, policy: KlInput['policy']): Formula<KlInput> {
  const d = `{${policy}} − {ref_log_prob}`
  const name = kind.replace(/\+$/, '')
  const values = ({ log_prob, ref_log_prob, kl }: KlInput): Values => ({
    [policy]: log_prob,
    ref_log_prob,
    q: clamp(ref_log_prob - log_prob, -20, 20),
    kl,
  })
  if (name === 'k3' || name === 'low_var_kl')
    return {
      lines: [line('q', `{ref_log_prob} − {${policy}}`), line('kl', 'min(exp({q}) − {q} − 1, 10)')],
      values,
    }
  if (name === 'abs') return { lines: [line('kl', `|${d}|`)], values }
  if (name === 'k2' || name === 'mse') return { lines: [line('kl', `½ · (${d})²`)], values }
  return { lines: [line('kl', d)], values }
}
