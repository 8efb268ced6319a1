// Dispatches that may last no longer than a limit: what takes too long is cut, and it leaves the
// bits that it leaves whole.
import { describe, expect, test } from 'vitest'
import { swiglu_forward } from '../../swiglu/swiglu.ts'
import { randomValues } from '../../testing.ts'
import { Gpu } from '../gpu.ts'
import { places } from './testing.ts'

const floats = (count: number) => randomValues(count, count)

describe.for(process.env.LONG_TESTS ? [true, false] : [true])(
  'limited dispatches, timestamps: %s',
  (timestamps) => {
    const [rows, intermediate_size] = [40, 500]
    const size = rows * intermediate_size

    /** Two calls of one kernel and a live grid, on a device whose dispatches may last no longer
     * than `mostMs`. */
    async function setUp(mostMs: number | undefined) {
      const device = await Gpu.open({ timestamps })
      if (mostMs !== undefined) device.limitDispatches({ mostMs })
      const gate_up = device.tensor('gate_up', 'f32', [2 * size], { data: floats(2 * size) })
      const [a, b] = [device.tensor('a', 'f32', [size]), device.tensor('b', 'f32', [size])]
      const seen = device.tensor('folded', 'u32', [500])
      const flat = device.tensor('flat', 'u32', [1000])
      const program = await device.record('calls', ['groups'], (r) => {
        r.run(swiglu_forward, { rows, intermediate_size }, { gate_up, out: a })
        r.run(swiglu_forward, { rows, intermediate_size }, { gate_up, out: b })
        r.run(places, { groups: ({ groups }) => groups, width: 0 }, { folded: seen, flat })
      })
      const round = async (groups: number) => {
        device.replay(program, { groups })
        const limits = await device.settleDispatches()
        const read = await device.read(a, b, seen, flat)
        return { limits, read }
      }
      return { device, round }
    }

    test('what takes too long is cut, with the same bits, and nothing is created afterwards', async () => {
      const [plain, cut] = [await setUp(undefined), await setUp(1e-7)]
      for (const groups of [100, 333, 500, 7, 450]) {
        const { read } = await cut.round(groups)
        expect(read).toEqual((await plain.round(groups)).read)
      }
      const warm = { ...cut.device.counts }
      const { limits, read } = await cut.round(200)
      expect(read).toEqual((await plain.round(200)).read)
      expect(limits).toBeUndefined()
      const { buffers, bind_groups, pipelines } = cut.device.counts
      expect([buffers, bind_groups, pipelines]).toEqual([
        warm.buffers,
        warm.bind_groups,
        warm.pipelines,
      ])
      plain.device.destroy()
      cut.device.destroy()
    })

    test('a round says how long the longest was and how many are cut; a call in parts counts once', async () => {
      const { device, round } = await setUp(1e-7)
      const { limits } = await round(300)
      // On a fast GPU a coarse clock may see no time pass.
      expect((limits?.split_dispatches ?? 0) > 0).toBe((limits?.longest_ms ?? 0) > 0)
      const [made, before] = [device.counts.bind_groups, device.counts.dispatches]
      expect(made).toBe(3 + (limits?.split_dispatches ?? 0))
      await round(300)
      expect(device.counts.dispatches - before).toBe(3)
      const { profile } = await device.profile(() => round(300))
      expect(profile.kernels.map(({ name, calls }) => [name, calls]).sort()).toEqual([
        ['places', 1],
        ['swiglu_forward', 2],
      ])
      device.destroy()
    })

    test('what is quick enough stays whole, in one submit once it is known', async () => {
      // No dispatch of this size takes a minute.
      const { device, round } = await setUp(60_000)
      expect((await round(100)).limits?.split_dispatches).toBe(0)
      for (let i = 0; i < 5; i++) await round(100)
      const { bind_groups, submits } = device.counts
      await round(100)
      expect(bind_groups).toBe(3)
      expect(device.counts.submits - submits).toBe(1)
      device.destroy()
    })
  },
)

test('a device without a limit measures nothing', async () => {
  const gpu = await Gpu.open()
  const out = gpu.tensor('out', 'f32', [1])
  const gate_up = gpu.tensor('gate_up', 'f32', [2])
  await gpu.run(swiglu_forward, { rows: 1, intermediate_size: 1 }, { gate_up, out })
  expect(await gpu.settleDispatches()).toBeUndefined()
})
