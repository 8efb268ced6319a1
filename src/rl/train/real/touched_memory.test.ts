// The memory that touching a model of real size takes, planned without a device, so that what is
// too large is refused with its number before anything is allocated.
import { expect, test } from 'vitest'
import type { ModelConfig } from '../../../model/layout/config.ts'
import { LENS_SETTINGS } from '../../config/lens_settings.ts'
import { type TouchWork, touchModels } from '../touched/touch.ts'
import { SHAPES, TOUCHES, touchedConfig } from './testing.ts'

/** Gigabytes that are asked of a device. */
async function planned(work: TouchWork, shape: ModelConfig): Promise<number> {
  let bytes = 0
  const model = { step: 0, config: touchedConfig(shape), weights: new Float32Array() }
  const open = async (plan: { total: () => number }) => {
    bytes = plan.total()
    throw new Error('no device')
  }
  await expect(touchModels(open, work, [model, model], () => {})).rejects.toThrow('no device')
  return bytes / 1e9
}

const WEIGHTS = (4 * 134.5) / 1000

test.for(Object.values(TOUCHES))('$what of 135 million parameters fits into 4 GB', async (work) => {
  const found = await planned(work, SHAPES['135m'])
  expect(found).toBeGreaterThan(WEIGHTS)
  expect(found).toBeLessThan(4)
})

test('more texts at once take more, up to what one pass takes', async () => {
  const lens = (texts: number, shape: ModelConfig) =>
    planned({ what: 'readings', settings: { ...LENS_SETTINGS, texts } }, shape)
  const [few, many, most] = [
    await lens(65, SHAPES['15m']),
    await lens(300, SHAPES['15m']),
    await lens(3000, SHAPES['15m']),
  ]
  expect(few).toBe(many)
  expect(many).toBe(most)
})
