// Checks the rules of inner layers that learn beside the policy of a phase of reinforcement.
import { innerWeights } from '../../../rl/config/inner.ts'
import { layersOf } from '../../../rl/config/layer_list.ts'
import type { RuledPhase } from './rule.ts'

/** Every rule of `actor.inner`. */
export function innerRules({ experiment, phase, at, settings, path, rule }: RuledPhase): void {
  const { inner } = settings.actor
  const layers = layersOf(inner.layers)
  if (layers.length === 0) return
  const { num_hidden_layers: L } = experiment.model
  const target = phase.target_layer === 'final' ? L : phase.target_layer
  const wrong = layers.find((layer, i) => layer >= target || layers.indexOf(layer) < i)
  rule(
    wrong === undefined,
    path('actor.inner.layers'),
    [`${at}.target_layer`, 'model.num_hidden_layers'],
    `expected different layers below the trained one, ${target}; got ${inner.layers}`,
  )
  const weights = innerWeights(inner)
  rule(
    weights.length === 1 || weights.length === layers.length,
    path('actor.inner.weights'),
    [path('actor.inner.layers')],
    `expected one number for all layers, or one for each of the ${layers.length}; got ${weights.length}`,
  )
  const isOwn = inner.objective === 'deep_supervision'
  rule(
    isOwn || phase.target_layer === 'final',
    path('actor.inner.objective'),
    [`${at}.target_layer`],
    `expected deep_supervision in a phase of layer ${phase.target_layer}, because the whole model’s policy teaches; got self_distill`,
  )
  rule(
    !isOwn || !settings.algorithm.rollout_correction.bypass_mode,
    path('actor.inner.objective'),
    [path('algorithm.rollout_correction.bypass_mode')],
    'expected self_distill, because in bypass mode inner layers have no old policy; got deep_supervision',
  )
  rule(
    !isOwn || !settings.actor.shuffle,
    path('actor.inner.objective'),
    [path('actor.shuffle')],
    'expected self_distill, or rows that keep their order; got deep_supervision',
  )
}
