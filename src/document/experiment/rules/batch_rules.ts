// Checks the rules between the sizes of batches and mini-batches, the model and the task.
import { taskOf } from '../fields/task_fields.ts'
import { hasCritic } from '../schema/phase_settings.ts'
import { innerLayerWords, type RuledPhase } from './rule.ts'

/** Batches divide into mini-batches and micro-batches, and layers and lengths fit the model and the
 * task. */
export function batchRules({ experiment, phase, at, settings, path, rule }: RuledPhase): void {
  const { rollout, actor } = settings
  const { num_hidden_layers } = experiment.model
  const layer = phase.target_layer
  rule(
    layer === 'final' || layer < num_hidden_layers,
    `${at}.target_layer`,
    ['model.num_hidden_layers'],
    innerLayerWords(num_hidden_layers, layer),
  )
  rule(
    rollout.train_batch_size % actor.ppo_mini_batch_size === 0,
    path('actor.ppo_mini_batch_size'),
    [path('rollout.train_batch_size')],
    `expected a divisor of rollout.train_batch_size (${rollout.train_batch_size}), because every mini-batch has the same size; got ${actor.ppo_mini_batch_size}`,
  )
  const rows = actor.ppo_mini_batch_size * rollout.n
  const micro = actor.ppo_micro_batch_size_per_gpu
  const criticMini = hasCritic(settings) ? settings.critic.ppo_mini_batch_size : null
  rule(
    criticMini === null || rollout.train_batch_size % criticMini === 0,
    path('critic.ppo_mini_batch_size'),
    [path('rollout.train_batch_size')],
    `expected null (the actor's) or a divisor of rollout.train_batch_size (${rollout.train_batch_size}), because every mini-batch has the same size; got ${criticMini}`,
  )
  const criticRows = (criticMini ?? 0) * rollout.n
  rule(
    micro === null || criticRows % micro === 0,
    path('critic.ppo_mini_batch_size'),
    [path('actor.ppo_micro_batch_size_per_gpu'), path('rollout.n')],
    `expected a mini-batch of the critic that divides into micro-batches of ${micro} responses (ppo_micro_batch_size_per_gpu), because the critic goes through those of the actor; got ${criticRows} responses`,
  )
  rule(
    micro === null || rows % micro === 0,
    path('actor.ppo_micro_batch_size_per_gpu'),
    [path('actor.ppo_mini_batch_size'), path('rollout.n')],
    `expected null (as many as fit) or a divisor of the ${rows} responses of a mini-batch, because every micro-batch has the same size; got ${micro}`,
  )
  const least = taskOf(experiment.task).max_response_length
  rule(
    rollout.max_response_length >= least,
    path('rollout.max_response_length'),
    Object.keys(experiment.task).map((name) => `task.${name}`),
    `expected at least ${least}, because the task’s longest answer with its end token has that length; got ${rollout.max_response_length}`,
  )
}

/** Samples of an earlier policy wait within their phase, which trains on all that are made. */
export function staleRules({ phase, at, settings, path, rule }: RuledPhase): void {
  const { staleness = 0, stale_fraction, max_turns } = settings.rollout
  if (staleness === 0) return
  const here = path('rollout.staleness')
  rule(
    staleness < phase.steps,
    here,
    [`${at}.steps`],
    `expected less than the steps of the phase (${phase.steps}), because no step would train on samples that old; got ${staleness}`,
  )
  rule(
    phase.target_layer === 'final',
    here,
    [`${at}.target_layer`],
    `expected 0 in a phase that trains layer ${phase.target_layer}, because the whole model samples and so two different policies would be compared; got ${staleness}`,
  )
  rule(
    max_turns === 1,
    here,
    [path('rollout.max_turns')],
    `expected 0 where responses have several turns (max_turns ${max_turns}), because conversations with tools are not kept from step to step; got ${staleness}`,
  )
  rule(
    stale_fraction === 1 || !settings.algorithm.filter_groups.enable,
    path('rollout.stale_fraction'),
    [here, path('algorithm.filter_groups.enable')],
    `expected 1, because dynamic sampling chooses a whole batch by its rewards; got ${stale_fraction}`,
  )
}
