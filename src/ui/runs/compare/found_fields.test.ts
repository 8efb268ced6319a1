// A field is found by its name before its path, and by plain words.
import { expect, test } from 'vitest'
import { experimentFields } from '../../../document/experiment/form/form.ts'
import { presetOf } from '../../../document/presets/presets.ts'
import { foundFields, offeredFields } from './found_fields.ts'

const preset = presetOf('tiny')
if (!preset) throw new Error('the preset is gone')
const fields = experimentFields(preset.experiment)
const found = (query: string) => foundFields(query, fields).map(({ path }) => path)

test('names come before paths and help, and what all phases share before what one says', () => {
  for (const query of ['learning rate', 'how fast', 'actor.optim.lr'])
    expect(found(query)[0], query).toBe('actor.optim.lr')
  const labels = foundFields('temperature', fields).map(({ label }) => /temperature/i.test(label))
  expect(labels[0]).toBe(true)
  expect(labels).toEqual(labels.toSorted((a, b) => Number(b) - Number(a)))
  const rates = found('learning rate')
  const ofPhase = rates.findIndex((path) => path.startsWith('phases.'))
  expect(ofPhase).toBeGreaterThan(rates.indexOf('actor.optim.lr'))
  expect(found('no such field')).toEqual([])
  expect(found(' ')).toHaveLength(fields.length)
})

test('near a name that no field has are those that it means but for a slip of the hand', () => {
  const near = (query: string) => offeredFields(query, fields).found.map(({ path }) => path)
  for (const query of ['learnig rate', 'actor.optim.lrr', 'learnign rate xyzzy'])
    expect(near(query), query).toContain('actor.optim.lr')
  expect(near('temperatura')[0]).toBe('rollout.temperature')
  expect(near('temperatura').length).toBeLessThanOrEqual(3)
  expect(near('learning rte')).toContain('actor.optim.lr')
  for (const query of ['xyzzyx', 'no such thing', 'vllm']) expect(near(query), query).toEqual([])
})

test('a name that begins with what is typed comes first, and of these a main setting', () => {
  expect(found('learn')[0]).toBe('actor.optim.lr')
  expect(found('temp')[0]).toBe('rollout.temperature')
  expect(found('layer').indexOf('model.num_hidden_layers')).toBe(0)
})

test('while a name is typed with a slip of the hand, near names are offered as such', () => {
  const offered = (query: string) => {
    const { found, isNear } = offeredFields(query, fields)
    return { isNear, paths: found.map(({ path }) => path) }
  }
  expect(offered('learing rate').paths).toContain('actor.optim.lr')
  expect(offered('entrpy')).toMatchObject({ isNear: true })
  expect(offered('entrpy').paths.join()).toContain('entropy')
  expect(offered('entropy').isNear).toBe(false)
  expect(offered('xyzzyx')).toEqual({ isNear: true, paths: [] })
})
