import { describe, expect, test } from 'vitest'
import { randomValues } from '../kernels/testing.ts'
import { readSafetensors } from './safetensors.ts'
import type { FloatDtype } from './safetensors_header.ts'
import { writeSafetensors } from './safetensors_write.ts'

describe('writing', () => {
  const tensors = [
    ['b', { shape: [2, 3], data: randomValues(6, 1) }],
    ['a', { shape: [], data: [0.5] }],
  ] as const

  test('what was written is read, in every dtype', () => {
    for (const dtype of ['F32', 'F16', 'BF16'] satisfies FloatDtype[]) {
      const { tensors: back, metadata } = readSafetensors(
        writeSafetensors(tensors, { format: 'pt', step: '3' }, dtype),
        'x',
      )
      expect(metadata).toEqual({ format: 'pt', step: '3' })
      expect([...back.keys()]).toEqual(['a', 'b'])
      expect(back.get('b')?.shape).toEqual([2, 3])
      // Half the last bit: 2^-24, 2^-12 for 10 bits of fraction and 2^-9 for 7, of values below 1.
      const error = { F32: 0, F16: 2 ** -12, BF16: 2 ** -9 }[dtype]
      const values = back.get('b')?.data ?? []
      expect(values).toHaveLength(6)
      tensors[0][1].data.forEach((x, i) => {
        expect(Math.abs(values[i] - x)).toBeLessThanOrEqual(error)
      })
    }
  })

  test('the header is padded with spaces and sorted by name, as Hugging Face writes it', () => {
    const bytes = writeSafetensors([['a', { shape: [1], data: [1] }]])
    const header =
      '{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    const length = bytes.length - 8 - 4
    expect(bytes[0]).toBe(length)
    expect(length % 8).toBe(0)
    expect(new TextDecoder().decode(bytes.subarray(8, 8 + length))).toBe(header.padEnd(length))
    expect([...bytes.subarray(-4)]).toEqual([0, 0, 0x80, 0x3f])
  })

  test('bits survive, those of a NaN too', () => {
    const bits = Uint32Array.of(0x7fc00001, 0x80000000, 1, 0xff800000)
    const back = readSafetensors(
      writeSafetensors([['a', { shape: [4], data: new Float32Array(bits.buffer) }]]),
      'x',
    ).tensors.get('a')?.data as Float32Array
    expect([...new Uint32Array(back.buffer)]).toEqual([...bits])
  })

  test('a wrong shape and a name twice are the caller’s mistakes', () => {
    const one = { shape: [2], data: [1] }
    expect(() => writeSafetensors([['a', one]])).toThrow('a: expected values of shape [2], got 1')
    const fine = { shape: [1], data: [1] }
    expect(() =>
      writeSafetensors([
        ['a', fine],
        ['a', fine],
      ]),
    ).toThrow(RangeError)
    expect(() => writeSafetensors([['__metadata__', fine]])).toThrow(RangeError)
  })
})
