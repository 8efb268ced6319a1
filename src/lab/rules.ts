// The rules between the fields of an experiment, and its phases as the trainer runs them.
import { ACTOR_DEFAULTS, ALGORITHM_DEFAULTS, CRITIC_DEFAULTS, type Phase } from '../rl/phase.ts'
import { createTask } from '../tasks/index.ts'
import type { Task } from '../tasks/task.ts'
import type { Overrides } from './fields.ts'
import type { Document, Issue } from './paths.ts'
import type { Experiment, RlDocument } from './schema.ts'

/** The task an experiment trains on. */
export function taskOf(choice: Experiment['task']): Task {
  const { id, ...params } = choice
  return createTask(id, params as Record<string, number>)
}

/** The rules between fields, each with its reason. */
export function brokenRules(experiment: Experiment): Issue[] {
  const issues: Issue[] = []
  const rule = (holds: boolean, path: string, involved: string[], message: string) => {
    if (!holds) issues.push({ path, message, involved })
  }
  const { num_attention_heads, num_key_value_heads, head_dim, num_hidden_layers } = experiment.model
  rule(
    num_attention_heads % num_key_value_heads === 0,
    'model.num_key_value_heads',
    ['model.num_attention_heads'],
    `expected a divisor of num_attention_heads (${num_attention_heads}), because every key-value head serves the same number of query heads; got ${num_key_value_heads}`,
  )
  rule(
    head_dim % 2 === 0,
    'model.head_dim',
    [],
    `expected an even number, because rotary positions turn channels in pairs; got ${head_dim}`,
  )
  const least = taskOf(experiment.task).max_response_length
  const task = Object.keys(experiment.task).map((name) => `task.${name}`)
  for (const [i, phase] of experiment.phases.entries()) {
    if (phase.kind !== 'rl') continue
    const at = `phases.${i}`
    /** The path of a setting: the phase's own where it has one. */
    const path = (section: 'rollout' | 'actor', name: string) =>
      (phase[section] as Document | undefined)?.[name] === undefined
        ? `${section}.${name}`
        : `${at}.${section}.${name}`
    const { rollout, actor } = resolveRl(experiment, phase)
    const layer = phase.target_layer
    rule(
      layer === 'final' || layer < num_hidden_layers,
      `${at}.target_layer`,
      ['model.num_hidden_layers'],
      `expected 'final' or a layer of the model, which has ${num_hidden_layers}; got ${layer}`,
    )
    rule(
      rollout.train_batch_size % actor.ppo_mini_batch_size === 0,
      path('actor', 'ppo_mini_batch_size'),
      [path('rollout', 'train_batch_size')],
      `expected a divisor of train_batch_size (${rollout.train_batch_size}), because every mini-batch has the same size; got ${actor.ppo_mini_batch_size}`,
    )
    rule(
      rollout.n >= 2,
      path('rollout', 'n'),
      [`${at}.adv_estimator`],
      `expected at least 2 responses per prompt, because GRPO compares them with each other; got ${rollout.n}`,
    )
    rule(
      rollout.top_k !== 0,
      path('rollout', 'top_k'),
      [],
      'expected -1 (off) or at least 1 token to choose from; got 0',
    )
    rule(
      rollout.max_response_length >= least,
      path('rollout', 'max_response_length'),
      task,
      `expected at least ${least}, because the task’s longest answer with its end token has that length; got ${rollout.max_response_length}`,
    )
  }
  // One broken shared setting is one issue, however many phases use it.
  return issues.filter((a, i) => issues.findIndex((b) => b.path === a.path) === i)
}

const defined = <T extends object>(own: Overrides<T> | undefined): Partial<T> =>
  Object.fromEntries(
    Object.entries(own ?? {}).filter(([, value]) => value !== undefined),
  ) as Partial<T>

function resolveRl({ rollout, actor, algorithm }: Experiment, phase: RlDocument) {
  const { optim, ...own } = phase.actor ?? {}
  return {
    rollout: { ...rollout, ...defined(phase.rollout) },
    actor: {
      ...ACTOR_DEFAULTS,
      ...actor,
      ...defined(own as Overrides<typeof actor>),
      optim: { ...actor.optim, ...defined(optim) },
    },
    critic: CRITIC_DEFAULTS,
    algorithm: { ...ALGORITHM_DEFAULTS, ...algorithm, ...defined(phase.algorithm) },
  }
}

/** The phases as the trainer runs them: names given, own settings laid over the experiment's, layers as numbers. */
export function resolvePhases(experiment: Experiment): Phase[] {
  const layers = experiment.model.num_hidden_layers
  return experiment.phases.map((phase) => {
    if (phase.kind === 'sft') return { ...phase, name: phase.name || 'warm start' }
    const target_layer = phase.target_layer === 'final' ? layers : phase.target_layer
    const name = target_layer === layers ? 'whole model' : `layer ${target_layer}`
    const { kind, steps, adv_estimator } = phase
    const own = resolveRl(experiment, phase)
    return { kind, name: phase.name || name, steps, adv_estimator, target_layer, ...own }
  })
}
