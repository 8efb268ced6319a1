import { expect, test } from 'vitest'
import type { FieldValue } from '../../../rl/fields/field.ts'
import { PRESETS } from '../../presets/presets.ts'
import { setAt } from '../fields/paths.ts'
import { needsOf } from './effect_needs.ts'
import { experimentFields } from './form.ts'

const [{ experiment }] = PRESETS
const said = (path: string) =>
  needsOf(experiment, path).map(({ field, values }) => [field.path, ...values])

test('what gives a setting an effect is the nearest other one, or several in order', () => {
  expect(said('actor.kl_loss_coef')).toEqual([['actor.use_kl_loss', true]])
  expect(said('actor.ref_model_sync_steps')).toEqual([
    ['actor.use_kl_loss', true],
    ['actor.sync_ref_model', true],
  ])
  expect(said('critic.optim.lr')).toEqual([['phases.1.adv_estimator', 'gae']])
  expect(said('rollout.stale_fraction')).toEqual([['rollout.staleness', 1]])
  // A phase that takes the switch over has it from the settings of all phases.
  expect(said('phases.1.actor.kl_loss_coef')).toEqual([['actor.use_kl_loss', true]])
  expect(said('model.lora.lora_alpha')).toEqual([['model.lora.r', 1]])
  expect(said('phases.0.optim.muon.momentum')).toEqual([['phases.0.optim.optimizer', 'Muon']])
})

test('what is said to give a setting an effect does, and nothing is said of one in force', () => {
  const idle = experimentFields(experiment).filter(
    ({ path, hasEffect }) => !hasEffect && /^(actor|algorithm|rollout)\./.test(path),
  )
  const unexplained: string[] = []
  for (const { path } of idle) {
    const needs = needsOf(experiment, path)
    if (needs.length === 0) unexplained.push(path)
    const copy = structuredClone(experiment)
    for (const { field, values } of needs) setAt(copy, field.path, values[0] as FieldValue)
    const now = experimentFields(copy).find((field) => field.path === path)
    if (needs.length > 0) expect(now?.hasEffect, path).toBe(true)
  }
  // Which layers learn along is typed.
  expect(unexplained.every((path) => path.startsWith('actor.inner.'))).toBe(true)
  expect(needsOf(experiment, 'actor.use_kl_loss')).toEqual([])
})
