import { describe, expect, test } from 'vitest'

import { PRESETS, presetOf } from '../presets/presets.ts'
import { seenOf } from '../presets/seen.ts'
import { SUMMARIES } from '../presets/summaries.ts'
import { parseExperiment } from './experiment.ts'
import { experimentFields } from './form/form.ts'
import { trainerConfig } from './trainer_config.ts'

test('the trainer gets numbers, not choices', () => {
  const { experiment } = PRESETS[0]
  const config = trainerConfig(experiment)
  const { enable_gradient_checkpointing, padding_idx, lora: _, ...fields } = experiment.model
  const { source: __, source_name: ___, source_address: ____, dtype: _____, ...kept } = fields
  const { activations_dtype: ______, steering_vectors: _______, lenses: ________, ...model } = kept
  expect(config.model).toEqual({ ...model, vocab_size: 26 })
  const wide = { ...experiment, model: { ...experiment.model, vocab_size: 32 } }
  expect(trainerConfig(wide).model.vocab_size).toBe(32)
  const padded = { ...experiment, model: { ...experiment.model, padding_idx: 0 } }
  expect([padding_idx, trainerConfig(padded).model.padding_idx]).toEqual([null, 0])
  expect(config.enable_gradient_checkpointing).toBe(enable_gradient_checkpointing)
  expect(config.task.sample(1, 0, 'train').prompt).toMatch(/^\d\d\+\d\d=$/)
  expect(config.phases.map((p) => (p.kind === 'rl' ? p.target_layer : 0))).toEqual([0, 5, 6])
  expect(config.phases.map(({ name }) => name)).toEqual(['warm start', 'layer 5', 'whole model'])
})

describe('a LoRA adapter', () => {
  const given = (lora: unknown) => {
    const parsed = parseExperiment({ model: { lora } })
    return parsed.ok ? trainerConfig(parsed.experiment).model.lora : parsed.issues
  }

  test('is off until it has a rank', () => {
    expect(given(undefined)).toBeUndefined()
    expect(given(null)).toBeUndefined()
    expect(given({ lora_alpha: 3, source: `sha256-${'0'.repeat(64)}` })).toBeUndefined()
  })

  test('is written as PEFT writes it', () => {
    expect(given({ r: 8, target_modules: 'all-linear', layers_to_transform: null })).toEqual({
      r: 8,
      lora_alpha: 16,
      use_rslora: false,
      target_modules: 'all-linear',
      layers_to_transform: null,
    })
    expect(
      given({ r: 1, target_modules: ['q_proj', 'v_proj'], layers_to_transform: [0, 5] }),
    ).toMatchObject({ target_modules: ['q_proj', 'v_proj'], layers_to_transform: [0, 5] })
    expect(
      given({ r: 1, target_modules: 'up_proj, down_proj', layers_to_transform: 2 }),
    ).toMatchObject({ target_modules: ['up_proj', 'down_proj'], layers_to_transform: [2] })
  })

  test.for([
    [{ r: -1 }, 'model.lora.r'],
    [{ r: 4, target_modules: 'lm_head' }, 'model.lora.target_modules'],
    [{ r: 4, target_modules: ['q_proj', 'embed_tokens'] }, 'model.lora.target_modules'],
    [{ r: 4, layers_to_transform: [6] }, 'model.lora.layers_to_transform'],
    [{ r: 4, use_dora: true }, 'model.lora.use_dora'],
  ] as const)('is refused by its field: %j', ([lora, path]) => {
    expect(given(lora)).toContainEqual(expect.objectContaining({ path }))
  })

  test('a phase that trains no layer with an adapter would learn nothing', () => {
    const phases = [{ kind: 'rl', target_layer: 3 }]
    const parsed = (layers: number[]) =>
      parseExperiment({ model: { lora: { r: 2, layers_to_transform: layers } }, phases })
    expect(parsed([2]).ok).toBe(true)
    expect(parsed([3])).toMatchObject({ issues: [{ path: 'phases.0.target_layer' }] })
  })
})

test('the default model has the 294,528 weights that the presets were measured with', () => {
  const m = trainerConfig(presetOf('two-skills-grpo')?.experiment ?? PRESETS[0].experiment).model
  const heads = (m.num_attention_heads + 2 * m.num_key_value_heads) * m.head_dim
  const layer =
    2 * m.hidden_size +
    m.hidden_size * heads +
    2 * m.head_dim +
    m.num_attention_heads * m.head_dim * m.hidden_size +
    3 * m.hidden_size * m.intermediate_size
  const total = m.vocab_size * m.hidden_size + m.num_hidden_layers * layer + m.hidden_size
  expect(m.tie_word_embeddings).toBe(true)
  expect(total).toBe(294_528)
})

test('preset ids are unique, and each says what to expect', () => {
  expect(PRESETS[0].id).toBe('two-skills-bupo')
  expect(new Set(PRESETS.map(({ id }) => id)).size).toBe(PRESETS.length)
  for (const { id, experiment } of PRESETS) {
    expect(id).toMatch(/^[a-z0-9-]+$/)
    expect(SUMMARIES[id], id).toMatch(/\.$/)
    expect(seenOf(id)?.what_you_should_see, id).toMatch(/\.$/)
    const { task, phases } = trainerConfig(experiment)
    expect(task.max_prompt_length).toBeGreaterThan(0)
    if (experiment.model.source_name === '') expect(phases[0].kind, id).toBe('sft')
    for (const phase of phases)
      if (phase.kind === 'rl')
        expect(phase.rollout.train_batch_size % phase.actor.ppo_mini_batch_size, id).toBe(0)
  }
})

test('how frozen matrices lie has an effect where something is frozen', () => {
  const effect = (document: object) => {
    const read = parseExperiment(document)
    const fields = read.ok ? experimentFields(read.experiment) : []
    return fields.find(({ path }) => path === 'model.dtype')?.hasEffect
  }
  expect(effect({})).toBe(false)
  expect(effect({ model: { lora: { r: 2 } } })).toBe(true)
  expect(effect({ phases: [{ kind: 'rl', freeze: { layers: '1' } }] })).toBe(true)
})

test('how kept activations lie reaches the model, and has an effect where they are kept', () => {
  const read = (model: object) => {
    const parsed = parseExperiment({ model: { activations_dtype: 'bfloat16', ...model } })
    if (!parsed.ok) throw new Error('expected an experiment')
    const field = experimentFields(parsed.experiment).find(
      ({ path }) => path === 'model.activations_dtype',
    )
    return [trainerConfig(parsed.experiment).model.activations_dtype, field?.hasEffect]
  }
  expect(read({})).toEqual(['bfloat16', true])
  expect(read({ enable_gradient_checkpointing: true })).toEqual(['bfloat16', false])
  expect(read({ activations_dtype: 'float32' })).toEqual([undefined, true])
})

describe('steering vectors', () => {
  const given = (change: object, phases?: unknown) => {
    const parsed = parseExperiment({ model: change, ...(phases !== undefined && { phases }) })
    return parsed.ok ? trainerConfig(parsed.experiment).model.steering_vectors : parsed.issues
  }
  const HASH = `sha256-${'0'.repeat(64)}`
  const on = (fields: object = {}) => ({ steering_vectors: { trainable: true, ...fields } })
  test('layers are a list, or all', () => {
    expect(given({})).toBeUndefined()
    expect(given(on())).toEqual({ layers: null })
    expect(given(on({ layers: '0,2, 6' }))).toEqual({ layers: [0, 2, 6] })
    expect(given(on({ source: HASH }))).toEqual({ layers: null })
  })
  test.for([
    [on({ layers: '7' }), 'model.steering_vectors.layers'],
    [on({ layers: 'two' }), 'model.steering_vectors.layers'],
    [on({ source: 'sha256-0' }), 'model.steering_vectors.source'],
    [on({ strength: 1000 }), 'model.steering_vectors.strength'],
    [{ ...on(), lora: { r: 4 } }, 'model.steering_vectors.trainable'],
    [{ steering_vectors: { source: HASH } }, 'model.steering_vectors.trainable'],
  ] as const)('are refused by their field: %j', ([model, path]) => {
    expect(given(model)).toContainEqual(expect.objectContaining({ path }))
  })
  test('a phase with no vector at or below its layer would learn nothing', () => {
    const inner = [{ kind: 'rl', target_layer: 2 }]
    expect(given(on({ layers: '3' }), inner)).toContainEqual(
      expect.objectContaining({ path: 'phases.0.target_layer' }),
    )
    expect(given(on({ layers: '2' }), inner)).toEqual({ layers: [2] })
  })
})
