import { mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readSafetensors, type SafeTensor } from '../../src/formats/safetensors.ts'
import type { FloatDtype } from '../../src/formats/safetensors_header.ts'
import { writeSafetensors } from '../../src/formats/safetensors_write.ts'
import { type Result, resultLine } from '../base/report.ts'
import { resultsOf } from '../results.ts'
import { Expected, openModelCase } from './model_case.ts'
import { copyOfCase } from './testing.ts'
import { weightOutputs } from './trajectory_check.ts'

const MODEL = 'model.safetensors'
type Tensors = ReadonlyMap<string, SafeTensor>

describe('a model case in other files', () => {
  let folder = ''
  beforeEach(() => {
    folder = copyOfCase()
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const readModel = (): Tensors => {
    const bytes = new Uint8Array(readFileSync(join(folder, MODEL)))
    return readSafetensors(bytes, MODEL).tensors
  }
  const weightsOf = async () => (await openModelCase(folder)).model.weights

  /** Every other tensor in each of two files. */
  function splitModel(): string[] {
    const tensors = [...readModel()]
    const weight_map: Record<string, string> = {}
    const shards = [0, 1].map((k) => {
      const shard = `model-0000${k + 1}-of-00002.safetensors`
      const part = tensors.filter((_, i) => i % 2 === k)
      for (const [name] of part) weight_map[name] = shard
      writeFileSync(join(folder, shard), writeSafetensors(part))
      return shard
    })
    unlinkSync(join(folder, MODEL))
    writeFileSync(join(folder, `${MODEL}.index.json`), JSON.stringify({ weight_map }))
    return shards
  }

  test('shards give the same weights', async () => {
    const whole = await weightsOf()
    splitModel()
    expect(await weightsOf()).toEqual(whole)
  })

  test('a missing shard is a failure that names it and an array of it', async () => {
    const [, second] = splitModel()
    unlinkSync(join(folder, second))
    const results: Result[] = []
    for await (const result of resultsOf([{ kind: 'model', folder }], { gpu: undefined }))
      results.push(result)
    expect(results).toHaveLength(1)
    const text = resultLine(results[0])
    expect(text).toMatch(/^FAIL/)
    expect(text).toContain(`${second}: expected a file with tensor "model.layers.`)
  })

  // Half a step at the last of 8 and of 11 bits; F16 has steps of 2^-24 next to 0.
  const halfSteps = [
    ['BF16', 2 ** -8, 0],
    ['F16', 2 ** -11, 2 ** -25],
  ] as const
  test.each(halfSteps)(
    '%s weights are the nearest there are',
    async (dtype, relative, absolute) => {
      const rewrite = (as: FloatDtype) => {
        writeFileSync(join(folder, MODEL), writeSafetensors(readModel(), { format: 'pt' }, as))
      }
      const exact = await weightsOf()
      rewrite(dtype)
      const c = await openModelCase(folder)
      const rounded = c.model.weights
      expect(c.model.dtype).toBe(dtype)
      const differs = (x: number, i: number) =>
        Math.abs(x - exact[i]) > relative * Math.abs(x) + absolute
      expect(rounded.findIndex(differs)).toBe(-1)
      expect(rounded).not.toEqual(exact)
      // Nothing more is lost: what is exactly representable comes back as it was.
      rewrite('F32')
      expect(await weightsOf()).toEqual(rounded)
      rewrite(dtype)
      expect(await weightsOf()).toEqual(rounded)
    },
  )
})

describe('weights at the end of a run', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'understory-hf-'))
    const trajectories = { a: { recommended_relative_l2_tolerance: 0.2 } }
    writeFileSync(join(folder, 'expected.json'), JSON.stringify({ tolerances: {}, trajectories }))
    const golden = [
      ['traj.a.final.u', { shape: [1], data: [3] }],
      ['traj.a.final.v', { shape: [2], data: [1, 5] }],
    ] as const
    writeFileSync(join(folder, 'expected.safetensors'), writeSafetensors(golden))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** From (0, 1, 1) to the golden (3, 1, 5): a way of 5. */
  const outputs = (u: number, v: readonly number[], start = [1, 1]) =>
    weightOutputs(
      {
        expected: new Expected(folder),
        params: { u: Float64Array.of(0), v: Float64Array.from(start) },
      },
      'a',
      'final',
      { u: Float64Array.of(u), v: Float64Array.from(v) },
    )

  test('their distance is relative to how far they went', () => {
    expect(outputs(3, [1, 5.5])).toEqual({
      'final.relative_l2': { actual: 0.1, expected: 0, tolerance: { rtol: 0, atol: 0.2 } },
    })
  })

  test('too large a distance names the parameter, and so does a NaN', () => {
    const far = outputs(3.5, [1, 7])
    expect(Object.keys(far)).toEqual(['final.relative_l2 (most of it in traj.a.final.v)'])
    const lost = outputs(Number.NaN, [1, 5])
    expect(Object.keys(lost)).toEqual(['final.relative_l2 (most of it in traj.a.final.u)'])
  })

  test('a golden parameter of another size is an error', () => {
    expect(() => outputs(3, [1, 5, 9], [1, 1, 1])).toThrow(
      'traj.a.final.v: expected 3 numbers, got 2',
    )
  })
})
