import { expect, test } from 'vitest'
import { PRESETS, presetOf } from '../../document/presets/presets.ts'
import { unopenedModel } from '../../host/content/models/unopened.ts'
import { startFolder, withoutStart } from './model_start.ts'

const experimentOf = (id: string) => presetOf(id)?.experiment ?? PRESETS[0].experiment

test('a shipped model is found in the project, and most experiments begin with none', async () => {
  expect(await startFolder(experimentOf('countdown-pretrained'))).toMatch(
    /public\/models\/arithmetic$/,
  )
  expect(await startFolder(experimentOf('tiny'))).toBeUndefined()
})

test('a model from elsewhere has to be given, by its name or its hash', async () => {
  const real = experimentOf('smollm2-135m-countdown')
  expect(unopenedModel(real)).toBe('HuggingFaceTB/SmolLM2-135M-Instruct')
  await expect(startFolder(real)).rejects.toThrow(
    /begins with HuggingFaceTB\/SmolLM2-135M-Instruct, .* give its folder with --model DIR/,
  )
  const source = `sha256-${'0'.repeat(64)}`
  const other = { ...real, model: { ...real.model, source, source_name: null } }
  await expect(startFolder(other)).rejects.toThrow(/begins with sha256-0{64}/)
  expect(await startFolder(withoutStart(real))).toBeUndefined()
})
