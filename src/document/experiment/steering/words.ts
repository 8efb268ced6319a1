// Puts steering into words, for marks and lists.
import { type AdvEstimator, estimatorOf } from '../../../rl/estimators/advantages.ts'
import { numberWords } from '../fields/number_words.ts'
import type { PhaseDocument } from '../fields/phases.ts'
import { preferenceLabel } from '../fields/preference_fields.ts'
import type { SteeringAction } from './actions.ts'

/** `phases.1.actor.optim.lr` is `phase 2 lr`; a critic's settings keep its name. */
function shortPath(path: string): string {
  const match = /^phases\.(\d+)\.(.*)$/.exec(path)
  const name = (match?.[2] ?? path)
    .replace(/^(actor|algorithm|rollout|validation)\./, '')
    .replace(/\boptim\./, '')
    .replaceAll('.', ' ')
  return match ? `phase ${Number(match[1]) + 1} ${name}` : name
}

/** What people call an estimator. */
export const estimatorName = (name: AdvEstimator): string =>
  name === 'gae' ? 'PPO' : estimatorOf(name).label

/** A phase by its name, else by its method and what it trains: 'BuPO (GRPO), layer 2'. */
export function phaseWords(phase: PhaseDocument): string {
  if (phase.name) return phase.name
  if (phase.kind === 'sft') return 'warm start'
  if (phase.kind === 'reward_model') return 'reward model'
  const { target_layer, target_readout } = phase
  return `${objectiveWords(phase)}, ${layerWords(target_layer)}${readoutWords(target_readout)}`
}

function objectiveWords(phase: Extract<PhaseDocument, { target_layer: unknown }>): string {
  if (phase.kind === 'distill') return 'distillation'
  if (phase.kind === 'preference') return preferenceLabel(phase.preference)
  const name = estimatorName(phase.adv_estimator)
  return phase.target_layer === 'final' ? name : `BuPO (${name})`
}

const READ_AS = {
  raw: '',
  normed: ', through the final norm',
  tuned: ', through a tuned lens',
  jacobian: ', through a Jacobian lens',
} as const

/** How a phase reads its layer, where that is not the paper's way; else ''. */
export const readoutWords = (readout: keyof typeof READ_AS = 'raw'): string => READ_AS[readout]

/** What a phase trains. */
export const layerWords = (layer: number | 'final') =>
  layer === 'final' ? 'whole model' : `layer ${layer}`

/** An entry in a few words, for marks and lists. */
export function steeringWords(action: SteeringAction): string {
  switch (action.kind) {
    case 'next_phase':
      return 'next phase'
    case 'insert_phase':
    case 'interrupt_phase':
      return `began ${phaseWords(action.phase)}`
    case 'follow_phase':
      return `added ${phaseWords(action.phase)} after the present phase`
    case 'repeat_phase':
      return 'phase repeated'
    case 'append_phase':
      return `added ${phaseWords(action.phase)}`
    case 'remove_phase':
      return `phase ${action.index + 1} removed`
    case 'move_phase':
      return `phase ${action.index + 1} moved to ${action.to + 1}`
    case 'kernels':
      return `other kernels for ${action.kernels.split(',').length} sizes of matrix products`
    case 'set': {
      const { path, value } = action
      if (value === null) return `${shortPath(path)} as default`
      return `${shortPath(path)} ${typeof value === 'number' ? numberWords(value) : value}`
    }
  }
}
