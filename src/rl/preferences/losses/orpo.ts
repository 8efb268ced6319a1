// Declares ORPO: cross-entropy of the better answers with an odds ratio beside it.
import { logistic, logLogistic } from '../../math/logistic.ts'
import { eachPair, pairedLoss } from './preference_loss.ts'

/** p = mean log-prob per token, o = p − log(1 − e^p): L = −b log σ(o_c − o_r) + NLL of the chosen,
 * in TRL of prompt and completion. A phase scores completions only, and has the paper's NLL of
 * these.
 *
 * Source: Hong 2024, arXiv 2403.07691; trl orpo_trainer.py. */
export const orpo = pairedLoss({
  name: 'orpo',
  label: 'ORPO',
  help: 'Imitates the better answers and raises the odds of the better answer over those of the worse one.',
  formula: 'NLL(chosen) − β · log σ(o_c − o_r), o = p − log(1 − eᵖ), p = mean log π',
  numbers: ['beta'],
  trl: { trainer: 'ORPOTrainer' },
  score: 'mean',
  nll: () => ({ weight: 1, over: 'sequence' }),
  rule: eachPair(({ chosen, rejected }, { beta }) => {
    const logOddsRatio = logOdds(chosen.score) - logOdds(rejected.score)
    const slope = -beta * logistic(-logOddsRatio)
    return {
      loss: -beta * logLogistic(logOddsRatio),
      d_chosen: slope / -Math.expm1(chosen.score),
      d_rejected: -slope / -Math.expm1(rejected.score),
    }
  }),
})

/** Log odds of a probability whose logarithm is p. */
export const logOdds = (p: number): number => p - Math.log(-Math.expm1(p))
