// Declares the settings of a preference phase, and what its updates minimise.
import type { AnswerObjective } from './answer_objective.ts'
import type { FDivergence } from './divergence.ts'
import type { PairedLoss } from './losses/preference_loss.ts'
import type { PreferenceValues } from './losses/preference_numbers.ts'
import { type PreferenceLossName, preferenceLossOf } from './losses.ts'
import { type PairObjective, pairRefusal } from './pair_objective.ts'

/** Under TRL's names (trl DPOConfig, CPOConfig, KTOConfig). */
export interface PreferenceSettings extends PreferenceValues {
  readonly loss_type: PreferenceLossName
  /** Weight of the cross-entropy of the better answers beside the loss (RPO); 0 = none. */
  readonly rpo_alpha: number
  readonly f_divergence_type: FDivergence
  readonly f_alpha_divergence_coef: number
  /** Weight of tokens beyond the length of the shorter answer (LD-DPO); 1 = off. */
  readonly ld_alpha: number
  readonly use_weighting: boolean
  readonly reference_free: boolean
}

/** What updates minimise: a loss of pairs, or one of answers that are each desirable or not. */
export type PreferenceObjective =
  | { readonly data: 'pairs'; readonly objective: PairObjective }
  | { readonly data: 'answers'; readonly objective: AnswerObjective }

/** The objective of a phase's settings. */
export function preferenceObjective(settings: PreferenceSettings): PreferenceObjective {
  const loss = preferenceLossOf(settings.loss_type)
  const k: PreferenceValues = settings
  if (loss.data === 'answers') return { data: 'answers', objective: { loss, k } }
  const own = { loss, weight: 1, k }
  const imitation = { loss: preferenceLossOf('sft') as PairedLoss, weight: settings.rpo_alpha, k }
  return {
    data: 'pairs',
    objective: {
      terms: settings.rpo_alpha > 0 ? [own, imitation] : [own],
      f_divergence_type: settings.f_divergence_type,
      f_alpha_divergence_coef: settings.f_alpha_divergence_coef,
      ld_alpha: settings.ld_alpha === 1 ? null : settings.ld_alpha,
      use_weighting: settings.use_weighting,
      reference_free: settings.reference_free,
    },
  }
}

/** Whether updates compare the policy with a frozen reference. */
export function readsReference({ loss_type }: Pick<PreferenceSettings, 'loss_type'>): boolean {
  const loss = preferenceLossOf(loss_type)
  return loss.data === 'answers' || loss.score === 'ratio'
}

/** Why settings contradict each other, in words that begin with the setting; undefined where they
 * do not. */
export function preferenceRefusal(settings: PreferenceSettings): string | undefined {
  const made = preferenceObjective(settings)
  if (made.data === 'pairs') return pairRefusal(made.objective)
  const { loss_type, rpo_alpha, f_divergence_type, ld_alpha, use_weighting, reference_free } =
    settings
  const off = `with the loss ${loss_type}, which has no pairs`
  if (rpo_alpha > 0) return `rpo_alpha: expected 0 ${off}, got ${rpo_alpha}`
  if (f_divergence_type !== 'reverse_kl')
    return `f_divergence_type: expected reverse_kl ${off}, got ${f_divergence_type}`
  if (ld_alpha !== 1) return `ld_alpha: expected 1 (off) ${off}, got ${ld_alpha}`
  if (use_weighting) return `use_weighting: expected off ${off}`
  if (reference_free) return `reference_free: expected off ${off}`
  return undefined
}
