import { expect, test } from 'vitest'
import { parseExperiment } from '../experiment/experiment.ts'
import { settingsOf } from '../experiment/schema/phase_settings.ts'
import { phaseChoices, placedPhase } from './phase_choices.ts'
import { PRESETS } from './presets.ts'

/** Where LONG_TESTS is not set: every eighth, for each takes half a second. */
const CHOSEN = process.env.LONG_TESTS ? PRESETS : PRESETS.filter((_, i) => i % 8 === 0)

test('every choice can be added to every preset', () => {
  for (const { id, experiment } of CHOSEN) {
    const choices = phaseChoices(experiment)
    for (const method of [
      'grpo',
      'gae',
      'bupo',
      'rloo',
      'reinforce_plus_plus',
      'rejection_sampling',
      'sft',
      'reward_model',
    ])
      expect(
        choices.map((choice) => choice.id),
        id,
      ).toContain(method)
    expect(choices.length).toBeGreaterThan(10)
    expect(new Set(choices.map((choice) => choice.id)).size).toBe(choices.length)
    for (const { phase } of choices)
      expect(parseExperiment({ ...experiment, phases: [...experiment.phases, phase] }).ok, id).toBe(
        true,
      )
  }
})

test('a phase on a reward model’s scores is offered where there is a reward model', () => {
  const of = (id: string) => {
    const preset = PRESETS.find((candidate) => candidate.id === id)
    if (!preset) throw new Error('no preset')
    return preset.experiment
  }
  const rewarded = (id: string) =>
    phaseChoices(of(id)).filter(({ phase }) => phase.kind === 'rl' && phase.reward_model.enable)
  expect(rewarded('tiny')).toEqual([])
  expect(rewarded('rlhf-tiny').map(({ id }) => id)).toEqual([
    'rlhf-tiny.2',
    'rlhf-clicks.2',
    'story-clicks.1',
  ])
  const { phases } = of('rlhf-tiny')
  expect(phases.map(({ kind }) => kind)).toEqual(['sft', 'reward_model', 'rl'])
  const choices = phaseChoices(of('rlhf-tiny'))
  const placed = (id: string, index: number) => {
    const choice = choices.find((candidate) => candidate.id === id)
    if (!choice) throw new Error('no choice')
    const phase = placedPhase(choice, phases, index)
    return phase.kind === 'rl' && phase.reward_model.enable
  }
  // A method takes the reward that there is; a preset’s phase stays what it is.
  expect([placed('grpo', 1), placed('grpo', 2), placed('tiny.1', 3)]).toEqual([false, true, false])
})

test('a method that compares responses gets groups of the same number of rows where there are none', () => {
  const ppo = PRESETS.find(({ id }) => id === 'tiny-ppo')?.experiment
  if (!ppo) throw new Error('no preset')
  const grpo = phaseChoices(ppo).find(({ id }) => id === 'grpo')?.phase
  if (grpo?.kind !== 'rl') throw new Error('no phase')
  const { rollout, actor } = settingsOf(ppo, grpo)
  expect(rollout.n * rollout.train_batch_size).toBe(128)
  expect(rollout.n * actor.ppo_mini_batch_size).toBe(64)
})

test('a preset’s phase brings its settings along', () => {
  const [{ experiment }] = PRESETS
  const phase = phaseChoices(experiment).find(({ id }) => id === 'tiny-ppo.1')?.phase
  if (phase?.kind !== 'rl') throw new Error('no phase')
  const settings = settingsOf(experiment, phase)
  expect(settings.adv_estimator).toBe('gae')
  expect(settings.critic.optim).toMatchObject({ lr: 0.001, lr_warmup_steps: 5 })
  expect(settings.algorithm.lam).toBe(0.95)
  expect(settings.rollout.train_batch_size).toBe(128)
  // Its responses are as long as this experiment's task needs.
  expect(settings.rollout.max_response_length).toBe(experiment.rollout.max_response_length)
})

test('the experiment’s own method keeps its settings and its length', () => {
  const first = PRESETS.find(({ id }) => id === 'first-steps')?.experiment
  if (!first) throw new Error('no preset')
  const [inner, whole] = first.phases
  if (whole.kind !== 'rl') throw new Error('no phase')
  const own = { ...first, phases: [inner, { ...whole, actor: { grad_clip: 0.5 } }] }
  const choice = (id: string) => phaseChoices(own).find((candidate) => candidate.id === id)?.phase
  const { steps, adv_estimator } = whole
  expect(choice(adv_estimator)).toMatchObject({ steps, actor: { grad_clip: 0.5 } })
  expect(choice('bupo')).toMatchObject({ steps: 4, adv_estimator, target_layer: 2 })
  expect(choice('grpo')).toMatchObject({ steps, adv_estimator: 'grpo' })
})
