// Lists the phases that can be put into a run: one per method, and those of the presets.
import { comparesGroups } from '../../rl/estimators/advantages.ts'
import { newPhase, parseExperiment } from '../experiment/experiment.ts'
import { type Document, isDocument } from '../experiment/fields/paths.ts'
import { innerTarget, type PhaseDocument, type RlDocument } from '../experiment/fields/phases.ts'
import { preferenceLabel } from '../experiment/fields/preference_fields.ts'
import { hasRewardModel } from '../experiment/rules/phase_rules.ts'
import { laid, settingsOf } from '../experiment/schema/phase_settings.ts'
import { type Experiment, MAX_PHASES } from '../experiment/schema/schema.ts'
import { PRESETS } from './presets.ts'

export interface PhaseChoice {
  readonly id: string
  readonly label: string
  readonly group: 'Methods' | 'From presets'
  /** Whether it trains an inner layer, which is to be chosen. */
  readonly hasLayer: boolean
  readonly phase: PhaseDocument
}

const METHODS = [
  { id: 'grpo', label: 'GRPO', name: 'GRPO', adv_estimator: 'grpo' },
  { id: 'gae', label: 'PPO (GAE with a critic)', name: 'PPO', adv_estimator: 'gae' },
  { id: 'bupo', label: 'BuPO: an inner layer', name: '', adv_estimator: 'grpo' },
  { id: 'rloo', label: 'RLOO', name: 'RLOO', adv_estimator: 'rloo' },
  {
    id: 'reinforce_plus_plus',
    label: 'REINFORCE++',
    name: 'REINFORCE++',
    adv_estimator: 'reinforce_plus_plus',
  },
  {
    id: 'rejection_sampling',
    label: 'From one’s own best (rejection sampling)',
    name: 'own best',
    adv_estimator: 'rejection_sampling',
  },
] as const

const NEW_STEPS = 20

/** Groups of at least two where the experiment has single responses: the same number of rows. */
function ownBatch({ rollout, actor }: Experiment): Partial<RlDocument> {
  if (rollout.n >= 2) return {}
  const { train_batch_size } = rollout
  const { ppo_mini_batch_size } = actor
  const fits = (n: number) => train_batch_size % n === 0 && ppo_mini_batch_size % n === 0
  const n = [4, 2].find(fits)
  if (!n) return { rollout: { n: 2 } }
  return {
    rollout: { n, train_batch_size: train_batch_size / n },
    actor: { ppo_mini_batch_size: ppo_mini_batch_size / n },
  }
}

/** What a phase of an inner layer cannot have, off where these settings have it: layers that learn
 * along, an entropy target, stale samples, and a correction of rollouts. */
function alone({
  actor,
  rollout,
  algorithm,
}: Pick<Experiment, 'actor' | 'rollout' | 'algorithm'>): Partial<RlDocument> {
  const { rollout_is, rollout_rs } = algorithm.rollout_correction
  const off = {
    ...(actor.inner.layers !== null && { inner: { layers: null } }),
    ...(actor.use_adaptive_entropy && { use_adaptive_entropy: false }),
  }
  return {
    ...(Object.keys(off).length > 0 && { actor: off }),
    ...((rollout.staleness ?? 0) > 0 && { rollout: { staleness: 0 } }),
    ...((rollout_is ?? rollout_rs) !== null && {
      algorithm: { rollout_correction: { rollout_is: null, rollout_rs: null } },
    }),
  }
}

const isRl = (phase: PhaseDocument): phase is RlDocument => phase.kind === 'rl'

/** How another phase estimates advantages, with the settings of its own that go with that. */
function methodOf({ adv_estimator, rollout, actor, critic, algorithm }: RlDocument) {
  return {
    adv_estimator,
    ...(rollout && { rollout }),
    ...(actor && { actor }),
    ...(critic && { critic }),
    ...(algorithm && { algorithm }),
  }
}

const lengthBeside = (beside: RlDocument | undefined): number =>
  beside && beside.epochs === null ? beside.steps : NEW_STEPS

const isInner = (phase: PhaseDocument): phase is RlDocument =>
  isRl(phase) && innerTarget(phase) !== undefined

/** A phase that trains an inner layer, as phase `at`: as the nearest that trains one does, else by
 * the method of the reinforcement beside it and no longer than that, else by GRPO. */
export function innerPhase(experiment: Experiment, target_layer: number, at: number): RlDocument {
  const { phases } = experiment
  const [before, after] = [phases.slice(0, at), phases.slice(at)]
  const like = before.findLast(isInner) ?? after.find(isInner)
  const beside = after.find(isRl) ?? before.findLast(isRl)
  const steps = Math.min(NEW_STEPS, lengthBeside(beside))
  const plain = { ...(newPhase('rl') as RlDocument), target_layer, steps }
  const method = beside && {
    ...methodOf(beside),
    ...laid(methodOf(beside) as Document, alone(settingsOf(experiment, beside)) as Document),
  }
  const taken = like ? { ...like, name: null, target_layer } : { ...plain, ...method }
  const placed = [...before, taken, ...after]
  if (beside && parseExperiment({ ...experiment, phases: placed, steering: [] }).ok) return taken
  return { ...plain, adv_estimator: 'grpo', ...ownBatch(experiment), ...alone(experiment) }
}

function methodPhase(
  experiment: Experiment,
  { id, name, adv_estimator }: (typeof METHODS)[number],
): PhaseDocument {
  const { phases, model } = experiment
  if (id === 'bupo')
    return innerPhase(experiment, Math.max(1, model.num_hidden_layers - 1), phases.length)
  const last = phases.findLast(isRl)
  const steps = lengthBeside(last)
  const phase = { ...(newPhase('rl') as RlDocument), name, adv_estimator, steps }
  // The experiment’s own method continues as it is.
  if (last?.adv_estimator === adv_estimator && innerTarget(last) === undefined)
    return { ...phase, ...methodOf(last) }
  return {
    ...phase,
    ...(comparesGroups(adv_estimator) && ownBatch(experiment)),
    ...(id === 'rejection_sampling' && { actor: { loss_mode: 'gpg' } }),
    // A critic learns no slower than the policy it judges.
    ...(id === 'gae' && { critic: { optim: experiment.actor.optim }, algorithm: { lam: 0.95 } }),
  }
}

/** What `own` says otherwise than `shared`, at any depth. */
function difference(own: object, shared: object): Document {
  const changes: Document = {}
  for (const [name, value] of Object.entries(own)) {
    const other = (shared as Document)[name]
    if (isDocument(value) && isDocument(other)) {
      const below = difference(value, other)
      if (Object.keys(below).length > 0) changes[name] = below
    } else if (JSON.stringify(value) !== JSON.stringify(other)) changes[name] = value
  }
  return changes
}

/** A preset's phase with all its settings, as a phase of this experiment. Responses stay as long as
 * its task needs. */
function adopted(experiment: Experiment, from: Experiment, phase: PhaseDocument): PhaseDocument {
  if (phase.kind !== 'rl') return phase
  const { rollout, actor, critic, algorithm } = settingsOf(from, phase)
  const { max_response_length } = experiment.rollout
  return {
    ...phase,
    rollout: difference({ ...rollout, max_response_length }, experiment.rollout),
    actor: difference(actor, experiment.actor),
    critic: difference(critic, experiment.critic),
    algorithm: difference(algorithm, experiment.algorithm),
  }
}

/** Every phase that could be added to this experiment. */
export function phaseChoices(experiment: Experiment): PhaseChoice[] {
  const methods = METHODS.map(
    (method): PhaseChoice => ({
      id: method.id,
      label: method.label,
      group: 'Methods',
      hasLayer: method.id === 'bupo',
      phase: methodPhase(experiment, method),
    }),
  )
  const sft: PhaseChoice = {
    id: 'sft',
    label: 'Warm start',
    group: 'Methods',
    hasLayer: false,
    phase: { ...newPhase('sft'), steps: NEW_STEPS },
  }
  const rewardModel: PhaseChoice = {
    id: 'reward_model',
    label: 'Reward model',
    group: 'Methods',
    hasLayer: false,
    phase: newPhase('reward_model'),
  }
  const preference: PhaseChoice = {
    id: 'preference',
    label: 'DPO: pairs without a reward model',
    group: 'Methods',
    hasLayer: false,
    phase: { ...newPhase('preference'), steps: NEW_STEPS },
  }
  const target_layer = Math.max(1, Math.floor(experiment.model.num_hidden_layers / 2))
  const distill: PhaseChoice = {
    id: 'distill',
    label: 'Self-distillation: the final layer teaches an inner one',
    group: 'Methods',
    hasLayer: false,
    phase: { ...newPhase('distill'), target_layer, steps: NEW_STEPS } as PhaseDocument,
  }
  const presets = PRESETS.flatMap(({ id, name, experiment: from }) =>
    from.phases.map(
      (phase, i): PhaseChoice => ({
        id: `${id}.${i}`,
        label: `${name}: ${phase.name || phaseKind(phase)}`,
        group: 'From presets',
        hasLayer: false,
        phase: adopted(experiment, from, phase),
      }),
    ),
  )
  // A phase that wants a reward model is offered where there is one.
  const before = experiment.phases.slice(0, MAX_PHASES - 1)
  return [...methods, sft, rewardModel, preference, distill, ...presets].filter(
    ({ phase }) => parseExperiment({ ...experiment, phases: [...before, phase], steering: [] }).ok,
  )
}

/** Phase `index` of a list, scored by the reward model of an earlier phase, where there is one. */
export const rewarded = (phase: RlDocument, phases: readonly PhaseDocument[], index: number) => ({
  ...phase,
  reward_model: { enable: hasRewardModel(phases, index) },
})

/** A choice as phase `index` of a list: a method is rewarded by the reward model of an earlier
 * phase, where there is one. */
export function placedPhase(
  { group, phase }: PhaseChoice,
  phases: readonly PhaseDocument[],
  index: number,
): PhaseDocument {
  if (group !== 'Methods' || phase.kind !== 'rl') return phase
  return rewarded(phase, phases, index)
}

const phaseKind = (phase: PhaseDocument): string => {
  if (phase.kind === 'sft') return 'warm start'
  if (phase.kind === 'reward_model') return 'reward model'
  if (phase.kind === 'preference') return preferenceLabel(phase.preference)
  if (phase.kind === 'distill') return 'distillation'
  return phase.target_layer === 'final' ? 'whole model' : `layer ${phase.target_layer}`
}
