import { expect, test } from 'vitest'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import { experimentFields } from '../../document/experiment/form/form.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { groupByPrompt } from '../learning/grouping.ts'
import {
  canUndo,
  choiceOf,
  fewHeldOut,
  heldOutText,
  progressShare,
  progressText,
} from '../phases/verdicts.ts'
import { PANEL_KEYS } from '../shell/palette/commands/command.ts'
import { skippedUpdates } from '../shown/metrics.ts'
import { SLIDER_TICKS, sliderPosition, sliderValue } from './field/slider.ts'
import { changedFields, groupFields, ownValues, shownFields, typedValue } from './form.ts'

const numeric = experimentFields(PRESETS[0].experiment).filter(
  ({ kind, min, max }) =>
    (kind === 'integer' || kind === 'number') && min !== undefined && max !== undefined,
)

test('every slider reaches both ends of its range and nothing beyond', () => {
  expect(numeric.length).toBeGreaterThan(20)
  for (const field of numeric) {
    expect(sliderValue(field, 0), field.path).toBe(field.min)
    expect(sliderValue(field, SLIDER_TICKS), field.path).toBeLessThanOrEqual(field.max ?? 0)
    expect(sliderPosition(field, field.max ?? 0), field.path).toBeCloseTo(SLIDER_TICKS, 6)
  }
})

test('the middle of a logarithmic slider is the geometric mean', () => {
  const lr = { kind: 'number', scale: 'log', min: 1e-6, max: 1e-2 } as const
  expect(sliderValue(lr, SLIDER_TICKS / 2)).toBe(1e-4)
  expect(sliderPosition(lr, 1e-4)).toBeCloseTo(SLIDER_TICKS / 2, 9)
})

test('a linear slider moves by the field’s own step', () => {
  const width = { kind: 'integer', min: 8, max: 1024, step: 8 } as const
  for (let at = 0; at <= SLIDER_TICKS; at += 7) expect(sliderValue(width, at) % 8).toBe(0)
})

test('samples are grouped by prompt in the order they came', () => {
  const [a, b, c] = ['2+2=', '1+1=', '2+2='].map((prompt, id) => ({ prompt, id }))
  expect(groupByPrompt([a, b, c])).toEqual([
    ['2+2=', [a, c]],
    ['1+1=', [b]],
  ])
})

test('skipped updates are added up, and the last step that had one is named', () => {
  const columns = { steps: [1, 2, 3, 4], values: [0, 2, 1, 0], length: 4 }
  expect(skippedUpdates(columns)).toEqual({ count: 3, lastStep: 3 })
  expect(skippedUpdates({ ...columns, length: 1 })).toBeUndefined()
  expect(skippedUpdates(undefined)).toBeUndefined()
})

const shown = (document: object): Map<string, string[]> => {
  const parsed = parseExperiment(document)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  const groups = groupFields(shownFields(parsed.experiment as Experiment))
  return new Map(groups.map(([group, fields]) => [group, fields.map(({ path }) => path)]))
}

test('the form leaves out what has no effect', () => {
  const plain = shown({})
  expect(plain.has('Critic')).toBe(false)
  expect(plain.get('KL to the reference')).toEqual([
    'actor.use_kl_loss',
    'algorithm.use_kl_in_reward',
  ])
  expect(plain.get('Reward')).toEqual(['algorithm.overlong_buffer.len'])
  expect(plain.get('Rollout correction')).toHaveLength(5)
  expect(plain.get('Algorithm')).toContain('algorithm.norm_adv_by_std_in_grpo')
  for (const name of ['gamma', 'lam', 'kl_penalty', 'use_task_rewards'])
    expect(plain.get('Algorithm')).not.toContain(`algorithm.${name}`)
  expect(plain.get('Rollout')?.at(-1)).toBe('algorithm.filter_groups.enable')
  const sampling = shown({ algorithm: { filter_groups: { enable: true } } })
  expect(sampling.get('Rollout')).toContain('algorithm.filter_groups.max_num_gen_batches')

  const gae = shown({ phases: [{ kind: 'rl', adv_estimator: 'gae' }, { kind: 'rl' }] })
  expect(gae.get('Critic')).toContain('critic.cliprange_value')
  expect(gae.get('Algorithm')).toContain('algorithm.lam')
  expect(gae.get('Phase 1, own critic')).toContain('phases.0.critic.optim.lr')
  expect(gae.has('Phase 2, own critic')).toBe(false)
  expect(gae.get('Phase 2, own settings')).not.toContain('phases.1.algorithm.lam')
})

test('a phase that goes its own way shows what its own way needs', () => {
  const groups = shown({
    phases: [{ kind: 'rl', actor: { loss_mode: 'sapo' } }, { kind: 'rl' }],
  })
  expect(groups.get('Phase 1, own settings')).toContain('phases.0.actor.tau_pos')
  expect(groups.get('Phase 1, own settings')).not.toContain('phases.0.actor.clip_ratio_low')
  expect(groups.get('Phase 2, own settings')).not.toContain('phases.1.actor.tau_pos')
  // The experiment's own values serve both.
  expect(groups.get('Actor')).toContain('actor.tau_pos')
  expect(groups.get('Actor')).toContain('actor.clip_ratio_low')
})

test('keys choose between two responses, skip and take back', () => {
  const keys = ['a', 'B', 'ArrowLeft', 'ArrowRight', 'x', 'z', 'Z']
  expect(keys.map(choiceOf)).toEqual(['a', 'b', 'a', 'b', 'skip', 'undo', 'undo'])
  // Answers may be digits.
  for (const key of [...'0123456789', 'c', 'Enter', ' ', 'constructor'])
    expect(choiceOf(key)).toBeUndefined()
  const shown = PANEL_KEYS.flatMap((panel) => panel.keys)
  expect(shown).toEqual(expect.arrayContaining(['A', 'B', 'X', 'Z']))
})

test('a person reads how many verdicts are missing, and when there are enough', () => {
  const asked = { phase: 1, pairs: [], pending: 5, min_pairs: 4 }
  expect(progressText({ ...asked, given: 3 })).toBe('3 of 4 verdicts; then training begins.')
  expect(progressShare({ ...asked, given: 3 })).toBe(0.75)
  expect(progressText({ ...asked, given: 4 })).toMatch(/^4 verdicts\. Enough: training begins\. /)
  expect(progressText({ ...asked, given: 4 }, true)).toMatch(
    /Enough: training has begun\. Each further/,
  )
  expect(progressText({ ...asked, given: 1, pending: 0 })).toBe(
    '1 verdict; there are no more pairs.',
  )
  expect(progressText({ ...asked, given: 3 }, true)).toMatch(/then training continues/)
  expect(progressText({ ...asked, given: 4 })).toMatch(/5 pairs left\.$/)
  expect(progressText({ ...asked, given: 0, min_pairs: 0 })).toMatch(/^No verdict yet; each one/)
  expect(progressShare({ ...asked, given: 0, min_pairs: 0 })).toBe(1)
})

test('a verdict can be taken back once a pair was decided', () => {
  const pair = (id: number) => ({ id, prompt: '', response_a: '', response_b: '' })
  const asked = { phase: 1, pending: 5, given: 0, min_pairs: 4 }
  expect(canUndo({ ...asked, pairs: [pair(0)] })).toBe(false)
  // A skipped one too, and the last of all.
  expect(canUndo({ ...asked, pairs: [pair(1)] })).toBe(true)
  expect(canUndo({ ...asked, pairs: [], pending: 0 })).toBe(true)
})

test('a reward model’s phase in the form', () => {
  const groups = shown({
    phases: [{ kind: 'reward_model', pairs: { source: 'human' } }, { kind: 'rl' }],
  })
  expect(groups.get('Phase 1')).toContain('phases.0.pairs.min_pairs')
  expect(groups.get('Phase 2')).toContain('phases.1.reward_model.enable')
  expect(shown({}).get('Phase 2')).not.toContain('phases.1.reward_model.enable')
})

test('the panel says how many prompts are held out, and why there are fewer pairs than asked for', () => {
  expect(heldOutText(62, 15)).toBe('62 held-out pairs with 15 prompts that no training pair has')
  expect(heldOutText(1, 1)).toBe('1 held-out pair with 1 prompt that no training pair has')
  expect(heldOutText(3, undefined)).toBe('3 held-out pairs')
  const judge = { source: 'judge', held_out: 64 }
  expect(fewHeldOut(judge, { pairs: 256, held_out_pairs: 64 })).toBeUndefined()
  expect(fewHeldOut(judge, { pairs: 256, held_out_pairs: 62 })).toContain(
    '64 held-out pairs were asked',
  )
  expect(fewHeldOut(judge, { pairs: 3, held_out_pairs: 0 })).toContain('No pair is held out')
  expect(fewHeldOut(judge, {})).toBeUndefined()
  const human = { source: 'human', held_out: 16 }
  expect(fewHeldOut(human, { pairs: 12, held_out_pairs: 4 })).toBeUndefined()
})

test('a setting that all phases take over is one change, and one of a phase’s own is another', () => {
  const experiment =
    PRESETS.find(({ id }) => id === 'first-steps')?.experiment ?? PRESETS[0].experiment
  const changed = (link: object) => {
    const parsed = parseExperiment({ ...structuredClone(experiment), ...link })
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
    return changedFields(shownFields(parsed.experiment), ownValues(experiment)).length
  }
  const { actor, phases } = experiment
  const faster = { ...actor, optim: { ...actor.optim, lr: 0.004 } }
  expect(changed({})).toBe(0)
  expect(changed({ actor: faster })).toBe(1)
  const [first, ...rest] = phases
  const own = { ...first, actor: { optim: { lr: 0.002 } } }
  expect(changed({ actor: faster, phases: [own, ...rest] })).toBe(2)
})

test('a list takes the commas of Chinese, and a name keeps them', () => {
  const texts = experimentFields(PRESETS[0].experiment).filter(({ kind }) => kind === 'text')
  const taken = (end: string) => {
    const field = texts.find(({ path }) => path.endsWith(end))
    return field && typedValue(field, '1，2、3')
  }
  for (const list of ['freeze.layers', 'inner.layers', 'inner.weights', 'kernels', 'rollout_rs'])
    expect(taken(list), list).toBe('1,2,3')
  expect(taken('name')).toBe('1，2、3')
})
