import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { presetOf } from '../../document/presets/presets.ts'
import { LabFailure } from '../base/command.ts'
import { loadWeights, savedModel, saveWeights } from './weights.ts'

const tiny = presetOf('tiny')?.experiment as Experiment
const weights = Float32Array.of(0, -1.5, 3.4e38, 1.4e-45)
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'understory-weights-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('weights come back bit by bit', () => {
  saveWeights(join(folder, 'new'), tiny, 60, weights)
  const bits = (values: Float32Array) => [...new Uint32Array(values.buffer)]
  expect(bits(loadWeights(join(folder, 'new'), tiny))).toEqual(bits(weights))
})

test('another seed and other phases take the same weights', () => {
  saveWeights(folder, tiny, 60, weights)
  const other = { ...tiny, seed: 9, phases: tiny.phases.slice(1) }
  expect(loadWeights(folder, other).length).toBe(4)
})

test('weights of another model or task are refused by name', () => {
  saveWeights(folder, tiny, 60, weights)
  const wider = { ...tiny, model: { ...tiny.model, hidden_size: 48 } }
  expect(() => loadWeights(folder, wider)).toThrow('model.hidden_size 32; the experiment has 48')
  const longer = { ...tiny, task: { ...tiny.task, length: 4 } }
  expect(() => loadWeights(folder, longer)).toThrow('task.length 3; the experiment has 4')
})

test('weights of another vocabulary are refused with the reason and what to do', () => {
  saveWeights(folder, tiny, 60, weights)
  const letters = { ...tiny, task: { id: 'spell_backward', min_length: 3, max_length: 6 } }
  expect(() => loadWeights(folder, letters)).toThrow(
    'weights made with another vocabulary than task spell_backward has (26 tokens instead of 40), so its ids mean other texts. Begin with a new model',
  )
  const file = join(folder, 'weights.json')
  const header = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...header, tokens: header.tokens.with(2, 'x') }))
  for (const load of [() => loadWeights(folder, tiny), () => savedModel(folder)])
    expect(load).toThrow('token 2 is "x" instead of "0"')
  writeFileSync(file, JSON.stringify({ ...header, tokens: 'x' }))
  expect(() => loadWeights(folder, tiny)).toThrow('tokens: expected a list of texts')
})

test('a folder without weights, a strange header and a cut file are said so', () => {
  expect(() => loadWeights(folder, tiny)).toThrow('--save DIR writes one')
  writeFileSync(join(folder, 'weights.json'), '{}')
  expect(() => loadWeights(folder, tiny)).toThrow('expected a header written by --save')
  // Someone else's file is not written over.
  expect(() => saveWeights(folder, tiny, 60, weights)).toThrow('--save did not write')
  expect(readFileSync(join(folder, 'weights.json'), 'utf8')).toBe('{}')
  rmSync(join(folder, 'weights.json'))
  saveWeights(folder, tiny, 60, weights)
  truncateSync(join(folder, 'weights.f32'), 12)
  expect(() => loadWeights(folder, tiny)).toThrow('12 bytes, expected 16')
})

test('weights that are not finite are refused with their place', () => {
  saveWeights(folder, tiny, 60, Float32Array.of(0, 1, Number.NaN, Number.POSITIVE_INFINITY))
  expect(() => loadWeights(folder, tiny)).toThrow(
    'weights.f32: weight 2: expected a finite number, found NaN; save them again from a sound run',
  )
})

test('a header that is not as --save writes it is a sentence about the field', () => {
  saveWeights(folder, tiny, 60, weights)
  const file = join(folder, 'weights.json')
  const header = JSON.parse(readFileSync(file, 'utf8'))
  const refused = (fields: object, message: RegExp) => {
    writeFileSync(file, JSON.stringify({ ...header, ...fields }))
    for (const load of [() => loadWeights(folder, tiny), () => savedModel(folder)]) {
      expect(load).toThrow(LabFailure)
      expect(load).toThrow(message)
    }
  }
  refused({ model: undefined }, /weights\.json: expected model and task/)
  refused({ task: null }, /weights\.json: expected model and task/)
  refused({ model: [] }, /weights\.json: expected model and task/)
  refused({ count: -1 }, /count: expected a whole number, found -1/)
  refused({ count: '4' }, /count: expected a whole number, found "4"/)
  refused(
    { model: { ...header.model, hidden_size: 'wide' } },
    /weights\.json: model\.hidden_size: expected a whole number/,
  )
  refused({ model: { ...header.model, num_hidden_layers: 1e9 } }, /model\.num_hidden_layers/)
  writeFileSync(file, 'null')
  expect(() => savedModel(folder)).toThrow('expected a header written by --save')
})
