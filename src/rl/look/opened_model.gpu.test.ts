import { afterAll, expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { expectClose } from '../../kernels/testing.ts'
import type { HfModel } from '../../model/hf/hf_model.ts'
import { internalsRef } from '../../model/internals/internals.ref.ts'
import { CONFIGS, testWeights } from '../../model/testing.ts'
import { forwardRef } from '../../model/transformer/transformer.ref.ts'
import { OpenedModel, requireRoom } from './opened_model.ts'

const open: OpenedModel[] = []
afterAll(() => {
  for (const model of open) model.close()
})

const IDS = [4, 2, 9, 5, 7]
const TOKENS = ['<pad>', '<eos>', ...'abcdefghi']

test.for(CONFIGS.map((config, i) => [`${config.model_type} ${i}`, config] as const))(
  'every layer of an opened %s says what the float64 model says',
  async ([, config]) => {
    const { layout, flat, exact } = testWeights(config, 7)
    const hf: HfModel = {
      ...{ config, head: 'lm_head', layout, weights: Float32Array.from(flat), dtype: 'F32' },
      eos_token_ids: [1],
    }
    const model = await OpenedModel.open(hf, ({ largest }) => Gpu.open({ largest }))
    open.push(model)
    const lens = await model.look(IDS, TOKENS)
    expect(lens.tokens).toEqual(IDS.map((id) => TOKENS[id]))
    const ones = IDS.map(() => 1)
    const position_ids = IDS.map((_, column) => column)
    const batch = { input_ids: IDS, attention_mask: ones, position_ids, rows: 1, width: IDS.length }
    const { values } = internalsRef(config, exact, forwardRef(config, exact, batch))
    const layers = config.num_hidden_layers + 1
    for (const [kind, name] of [
      ['raw', 'ent_layer_raw'],
      ['normed', 'ent_layer_norm'],
    ] as const) {
      const expected = IDS.flatMap((_, position) =>
        Array.from({ length: layers }, (_, layer) => values[name][layer * IDS.length + position]),
      )
      expectClose(lens[kind].entropy, expected, { atol: 3e-5, rtol: 2e-5 })
    }
    // The same text again gives the same bits.
    expect((await model.look(IDS, TOKENS)).normed).toEqual(lens.normed)
    await expect(model.look([], TOKENS)).rejects.toThrow(
      'Expected a text of 1 to 64 tokens, found 0.',
    )
    await expect(model.look([config.vocab_size], TOKENS)).rejects.toThrow(
      `Expected token ids below ${config.vocab_size}, found ${config.vocab_size}.`,
    )
  },
)

test('a model that takes more memory than there may be is refused with both numbers', () => {
  expect(() => requireRoom(2 ** 30, 2 ** 30)).not.toThrow()
  expect(() => requireRoom(3 * 2 ** 30, 2 ** 31)).toThrow(
    'The model takes 3.00 GiB of GPU memory here, where it may take 2.00 GiB.',
  )
})
