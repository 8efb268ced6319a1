import { describe, expect, test } from 'vitest'
import { ModelFileError } from '../../formats/errors.ts'
import { parseConfig, QWEN3 } from './testing.ts'

const LLAMA3 = {
  factor: 8.0,
  high_freq_factor: 4.0,
  low_freq_factor: 1.0,
  original_max_position_embeddings: 512,
}

describe('rotary embedding of a config', () => {
  const rope = (fields: object) => {
    const { rope_theta: _, rope_scaling: __, ...rest } = QWEN3
    const { rope_theta, rope_scaling } = parseConfig({ ...rest, ...fields }).config
    return { rope_theta, rope_scaling }
  }
  const old = { rope_theta: 5e5, rope_scaling: { ...LLAMA3, rope_type: 'llama3' } }
  const recent = { rope_parameters: { ...LLAMA3, rope_theta: 5e5, rope_type: 'llama3' } }
  const scaled = { rope_theta: 5e5, rope_scaling: { rope_type: 'llama3', ...LLAMA3 } }

  test('both spellings say the same, alone and together', () => {
    expect(rope(old)).toEqual(scaled)
    expect(rope(recent)).toEqual(scaled)
    expect(rope({ ...old, ...recent })).toEqual(scaled)
    expect(rope({ rope_theta: 5e5, rope_scaling: { ...LLAMA3, type: 'llama3' } })).toEqual(scaled)
    const split = { rope_theta: 5e5, rope_parameters: { ...LLAMA3, rope_type: 'llama3' } }
    expect(rope(split)).toEqual(scaled)
  })

  test('no scaling in any spelling', () => {
    const plain = { rope_theta: 5e5, rope_scaling: undefined }
    expect(rope({ rope_theta: 5e5, rope_scaling: null })).toEqual(plain)
    expect(rope({ rope_theta: 5e5, rope_scaling: { rope_type: 'default' } })).toEqual(plain)
    expect(rope({ rope_parameters: { rope_theta: 5e5, rope_type: 'default' } })).toEqual(plain)
    const both = { rope_theta: 5e5, rope_type: 'default' }
    expect(rope({ rope_theta: 5e5, rope_scaling: null, rope_parameters: both })).toEqual(plain)
    expect(rope({})).toEqual({ ...plain, rope_theta: 10_000 })
  })

  test.each<[string, object, RegExp]>([
    [
      'two frequencies',
      { ...recent, rope_theta: 1e4 },
      /rope_parameters.rope_theta: expected what rope_theta says \(10000\), found 500000/,
    ],
    [
      'two scalings',
      { ...old, rope_parameters: { ...recent.rope_parameters, factor: 4 } },
      /rope_scaling: expected what rope_parameters says \(llama3, 4, 1, 4, 512\), found llama3, 8/,
    ],
    ['one scaled, one not', { ...recent, rope_scaling: null }, /found no scaling/],
    [
      'two names of a type',
      { rope_scaling: { ...LLAMA3, type: 'linear', rope_type: 'llama3' } },
      /rope_scaling.type: .*"llama3".* found "linear"/,
    ],
    [
      'yarn',
      { rope_scaling: { rope_type: 'yarn', factor: 4 } },
      /rope_scaling.rope_type: expected "default" or "llama3", found "yarn"/,
    ],
    ['linear of old', { rope_scaling: { type: 'linear', factor: 2 } }, /found "linear"/],
    ['no type', { rope_parameters: { factor: 2 } }, /rope_parameters.rope_type: .* found nothing/],
    [
      'a rope per layer type',
      { rope_parameters: { full_attention: { rope_theta: 1e4 } } },
      /rope_parameters.rope_type/,
    ],
    [
      'part of each head',
      { rope_parameters: { partial_rotary_factor: 0.5 } },
      /partial_rotary_factor: expected 1, found 0.5/,
    ],
    [
      'half a rule',
      { rope_scaling: { rope_type: 'llama3', factor: 8 } },
      /original_max_position_embeddings: expected a whole number, found nothing/,
    ],
    [
      'an upside-down rule',
      { rope_scaling: { ...LLAMA3, rope_type: 'llama3', high_freq_factor: 1 } },
      /high_freq_factor: expected more than low_freq_factor \(1\), got 1/,
    ],
    [
      'a factor below 1',
      { rope_scaling: { ...LLAMA3, rope_type: 'llama3', factor: 0.5 } },
      /rope_scaling.factor: expected a number of at least 1/,
    ],
    [
      'text for a number',
      { rope_theta: '1e6' },
      /rope_theta: expected a number above 0 .* found "1e6"/,
    ],
    ['a list for an object', { rope_scaling: [] }, /rope_scaling: expected an object, found \[\]/],
  ])('refuses %s', (_, fields, message) => {
    expect(() => rope(fields)).toThrow(message)
    expect(() => rope(fields)).toThrow(ModelFileError)
  })
})
