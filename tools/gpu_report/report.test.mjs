import { execFile } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { findDriver } from './driver.mjs'
import { hotLoop, judge, readKernel, tripsAfter, tripsOf } from './machine_code.mjs'

const LOOP = `
BB0:
	s_load_b128 s[0:3], s[4:5], null ; comment
	s_waitcnt lgkmcnt(0)
BB1:
	buffer_load_b128 v[0:3], v8, s[0:3], 0 idxen
	buffer_load_b128 v[4:7], v9, s[0:3], 0 idxen
	s_waitcnt vmcnt(1)
	v_mul_lo_u32 v9, v9, v8
	v_fma_f32 v10, v0, v4, v10
	v_fmac_f32_e32 v11, v1, v5
	s_cbranch_scc1 BB1
BB2:
	s_cbranch_scc0 BB3
	buffer_load_b32 v1, v2, s[0:3], 0 offen
	s_waitcnt vmcnt(0)
	buffer_store_b32 v10, v1, s[0:3], 0 offen
	s_endpgm
BB3:
	buffer_store_b32 v10, v1, s[0:3], 0 offen
	s_endpgm
`
const text = `SHADER STATS\nVGPRs: 96\nSpilled VGPRs: 0\nSubgroups per SIMD: 16\ndisasm:${LOOP}\n\n`

describe('what is read from machine code', () => {
  const { lines, ...numbers } = readKernel(text)

  test('registers and waves of 64 lanes', () => {
    expect(numbers).toMatchObject({ vgprs: 96, spilled: 0, waves: 8 })
    expect(lines[0]).toBe('BB0:')
  })

  test('the hottest loop: multiply-adds, cycles by the compiler’s model, bytes, waits', () => {
    const { fmas, cycles, memory_bytes, trips, end } = hotLoop(lines)
    expect({ fmas, cycles, memory_bytes, trips }).toEqual({
      fmas: 2,
      cycles: 10,
      memory_bytes: 32,
      trips: 1,
    })
    expect(lines[end]).toBe('s_cbranch_scc1 BB1')
    expect(hotLoop(lines, { family: 'navi21', wave: 64 }).cycles).toBe(12)
  })

  test('of waves of 32 lanes, two multiply-adds at once', () => {
    const both = LOOP.replace(
      'v_fma_f32 v10, v0, v4, v10\n\tv_fmac_f32_e32 v11, v1, v5',
      'v_dual_fmac_f32 v10, v0, v4 :: v_dual_fmac_f32 v11, v1, v5',
    )
    const gpu = { family: 'navi31', wave: 32 }
    const of = judge(text.replace(LOOP, both), gpu)
    // A product of whole numbers takes four cycles, the pair takes one.
    expect(of).toMatchObject({ waves: 16, fmas: 2, valu_bound: 1 / 5 })
  })

  test('waits that follow one another, and those after the loop', () => {
    const load = 'buffer_load_b32 v1, v2, s[0:3], 0 offen'
    expect(tripsOf([load, load, 's_waitcnt vmcnt(1)', 's_waitcnt vmcnt(0)'])).toBe(1)
    expect(tripsOf([load, 's_waitcnt vmcnt(0)', load, 's_waitcnt vmcnt(0)'])).toBe(2)
    expect(tripsAfter(lines, hotLoop(lines).end)).toBe(1)
  })
})

const driver = findDriver()

// MESA_AMD_DRIVER names the driver where it is not the system's own.
test.skipIf(!driver.path)(
  'kernels keep to the bars, with Mesa’s driver for AMD of version 24 or later',
  async () => {
    const { error, stdout } = await new Promise((resolve) =>
      execFile(process.execPath, ['tools/gpu_report.mjs'], (error, stdout) =>
        resolve({ error, stdout }),
      ),
    )
    expect(stdout.match(/^\| matmul_/gm)?.length).toBeGreaterThan(80)
    expect(stdout.slice(stdout.lastIndexOf('|') + 1).trim()).toBe(
      'Nothing falls short of the bars.',
    )
    expect(error).toBeNull()
  },
  240_000,
)
