// The rules between what a reinforcement phase trains, what it freezes and what it draws.
import { layersOf } from './phase_fields.ts'
import type { RuledPhase } from './rules.ts'

/** The layer whose policy a phase trains, as a number. */
const targetOf = ({ experiment, phase }: RuledPhase): number =>
  phase.target_layer === 'final' ? experiment.model.num_hidden_layers : phase.target_layer

export function trainedRules(ruled: RuledPhase): void {
  const { experiment, phase, at, rule } = ruled
  const { num_hidden_layers: L, tie_word_embeddings } = experiment.model
  const target = targetOf(ruled)
  const whose = phase.target_layer === 'final' ? 'the last layer' : 'the trained layer'
  rule(
    phase.target_readout === 'raw' || phase.target_layer !== 'final',
    `${at}.target_readout`,
    [`${at}.target_layer`],
    `expected 'raw', because the whole model's policy has the final norm already; the read-out is a choice for inner layers`,
  )
  const frozen = layersOf(phase.freeze.layers)
  const missing = frozen.find((layer) => layer > L)
  rule(
    missing === undefined,
    `${at}.freeze.layers`,
    ['model.num_hidden_layers'],
    `expected layers of the model, which has ${L}; got ${missing}`,
  )
  const { layer, factor } = phase.lr_factor_above
  rule(
    factor === 1 || layer < target,
    `${at}.lr_factor_above.layer`,
    [`${at}.target_layer`, 'model.num_hidden_layers', `${at}.lr_factor_above.factor`],
    `expected less than ${target}, ${whose}, because no layer above it is trained that could have another rate; got ${layer}`,
  )
  const trained = Array.from({ length: target }, (_, i) => i + 1).filter(
    (block) => !frozen.includes(block) && !(factor === 0 && block > layer),
  )
  rule(
    trained.length > 0 || !phase.freeze.embed_tokens || !tie_word_embeddings,
    `${at}.freeze.layers`,
    [`${at}.freeze.embed_tokens`, `${at}.lr_factor_above.factor`, `${at}.target_layer`],
    'expected the embedding or a layer that is left to train, because with all of them frozen the phase would learn nothing',
  )
}

export function filterRules({ settings, path, rule }: RuledPhase): void {
  const { rollout, algorithm } = settings
  const { enable, metric } = algorithm.filter_groups
  rule(
    !enable || rollout.n >= 2,
    path('algorithm.filter_groups.enable'),
    [path('rollout.n')],
    `expected off, or at least 2 responses per prompt, because one response alone cannot differ from others; got n = ${rollout.n}`,
  )
  rule(
    !enable || metric !== 'seq_final_reward' || !algorithm.use_kl_in_reward,
    path('algorithm.filter_groups.metric'),
    [path('algorithm.use_kl_in_reward')],
    'expected acc, score or seq_reward, because with the KL in the reward the responses of every group differ and none would be left out; got seq_final_reward',
  )
}
