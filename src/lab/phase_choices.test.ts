import { expect, test } from 'vitest'
import { newPhase, parseExperiment } from './experiment.ts'
import { phaseChoices } from './phase_choices.ts'
import { PRESETS } from './presets.ts'
import { settingsOf } from './rules.ts'

test('every choice can be added to every preset', () => {
  for (const { id, experiment } of PRESETS) {
    const choices = phaseChoices(experiment)
    for (const method of ['grpo', 'gae', 'bupo', 'rloo', 'reinforce_plus_plus', 'sft'])
      expect(
        choices.map((choice) => choice.id),
        id,
      ).toContain(method)
    expect(choices.length).toBeGreaterThan(10)
    expect(new Set(choices.map((choice) => choice.id)).size).toBe(choices.length)
    for (const { phase } of choices)
      expect(parseExperiment({ ...experiment, phases: [newPhase('sft'), phase] }).ok, id).toBe(true)
  }
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
