// Tests the tags by which presets are found.
import { expect, test } from 'vitest'
import { PRESETS, presetOf } from './presets.ts'
import { ANY, choicesOf, hasTags, smallFirst, tagsOf } from './tags.ts'

const of = (id: string) => {
  const preset = presetOf(id)
  if (!preset) throw new Error(`no preset ${id}`)
  return tagsOf(preset.experiment)
}

test('tags are read from the experiment', () => {
  expect(of('first-steps')).toEqual({
    task: 'Sort digits',
    methods: ['REINFORCE++', 'BuPO'],
    size: 'Tiny: below 50k weights',
  })
  expect(of('tiny-ppo').methods).toEqual(['PPO'])
  expect(of('tiny-dapo').methods).toEqual(['DAPO'])
  expect(of('tiny-dr-grpo').methods).toEqual(['Dr. GRPO'])
  expect(of('rlhf-clicks').methods).toEqual(['RLOO', 'RLHF'])
  expect(of('calculator-products').methods).toEqual(['GRPO', 'Tools'])
  expect(of('qwen3-0-6b-gsm8k')).toMatchObject({
    methods: ['GRPO', 'LoRA'],
    size: 'Large: a model from elsewhere',
  })
})

test('every choice finds a preset, and wanting nothing finds all', () => {
  const all = PRESETS.map(({ experiment }) => tagsOf(experiment))
  const choices = choicesOf(all)
  for (const kind of ['task', 'method', 'size'] as const)
    for (const choice of choices[kind]) {
      const found = all.filter((tags) => hasTags(tags, { ...ANY, [kind]: choice }))
      expect(found.length, choice).toBeGreaterThan(0)
    }
  expect(all.filter((tags) => hasTags(tags, ANY))).toHaveLength(PRESETS.length)
  expect(hasTags(of('tiny-ppo'), { ...ANY, method: 'GRPO' })).toBe(false)
})

test('small models come first, and the menu’s order holds among them', () => {
  const all = PRESETS.map(({ id, experiment }) => ({ id, tags: tagsOf(experiment) }))
  const ids = smallFirst(all).map(({ id }) => id)
  expect(ids[0]).toBe('first-steps')
  expect(ids.indexOf('tiny-collapse')).toBeLessThan(ids.indexOf('two-skills-bupo'))
  expect(ids.at(-1)).toBe('qwen3-0-6b-gsm8k')
})
