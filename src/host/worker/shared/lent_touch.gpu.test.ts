// Kept states are touched on the worker's device, one work after the other.
import { expect, test } from 'vitest'
import type { MemoryPlan } from '../../../kernels/device/base/tensor.ts'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { initialWeights, paramLayout } from '../../../model/layout/params.ts'
import { LENS_SETTINGS } from '../../../rl/config/lens_settings.ts'
import { CONFIG, RL } from '../../../rl/testing.ts'
import { type TouchWork, touchModels } from '../../../rl/train/touched/touch.ts'
import { Devices } from './devices.ts'

const config = { ...CONFIG, phases: [RL] }
const weights = initialWeights(paramLayout(modelShape(config.model)), 3)
const settings = { ...LENS_SETTINGS, texts: 8, held_out: 4, steps: 4 }

test('works on one device follow one another with the same numbers, and leave it as it was', async () => {
  let opened = 0
  const devices = new Devices(() => {
    opened++
    return Gpu.open()
  })
  const open = ({ largest }: MemoryPlan) => devices.lend(largest)
  const touched = (work: TouchWork) =>
    touchModels(open, work, [{ step: 1, config, weights }], () => {})
  const parts = { what: 'parts', problems: 3 } as const
  /** What is left on the device. */
  const kept = async () => {
    const lent = await devices.lend({ label: '', bytes: 1 })
    const { live_bytes } = lent.gpu.counts
    await lent.end(true)
    return live_bytes
  }
  const first = await touched(parts)
  const bytes = await kept()
  await touched({ what: 'readings', settings })
  // What is refused half way ends the device that it had.
  await expect(
    touched({ what: 'readings', settings: { ...settings, skip_first: 200 } }),
  ).rejects.toThrow('found none')
  expect(opened).toBe(1)
  expect(await touched(parts)).toEqual(first)
  expect(opened).toBe(2)
  expect(await kept()).toBe(bytes)
})
