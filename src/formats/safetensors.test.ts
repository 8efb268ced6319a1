import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { randomValues } from '../kernels/testing.ts'
import { ModelFileError } from './errors.ts'
import { readSafetensors } from './safetensors.ts'
import { writeSafetensors } from './safetensors_write.ts'

/** A file from its parts, whatever they are. */
function fileOf(header: unknown, data: ArrayLike<number> = []): Uint8Array {
  const text = new TextEncoder().encode(
    typeof header === 'string' ? header : JSON.stringify(header),
  )
  const bytes = new Uint8Array(8 + text.length + data.length)
  new DataView(bytes.buffer).setUint32(0, text.length, true)
  bytes.set(text, 8)
  bytes.set(data, 8 + text.length)
  return bytes
}

const entry = (dtype: string, shape: unknown, data_offsets: unknown) => ({
  dtype,
  shape,
  data_offsets,
})
const read = (header: unknown, data?: ArrayLike<number>) =>
  readSafetensors(fileOf(header, data), 'x.safetensors')
const valuesOf = (dtype: string, data: ArrayLike<number>, shape: number[]) =>
  read({ t: entry(dtype, shape, [0, data.length]) }, data).tensors.get('t')?.data

describe('reading', () => {
  test('each dtype has its numbers', () => {
    expect(valuesOf('F32', [0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0], [2])).toEqual(Float32Array.of(1, -2))
    expect(valuesOf('F16', [0, 0x3c, 0xff, 0x7b, 1, 0, 0, 0x80], [4])).toEqual(
      Float32Array.of(1, 65504, 2 ** -24, -0),
    )
    expect(valuesOf('BF16', [0x80, 0x3f, 0x49, 0x40], [2])).toEqual(Float32Array.of(1, 3.140625))
    expect(valuesOf('F64', [0, 0, 0, 0, 0, 0, 0xf0, 0xbf], [1])).toEqual(Float64Array.of(-1))
    expect(valuesOf('I32', [0xfe, 0xff, 0xff, 0xff, 1, 1, 0, 0], [2])).toEqual(
      Int32Array.of(-2, 257),
    )
    expect(valuesOf('I64', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [1])).toEqual(
      Float64Array.of(-1),
    )
    expect(valuesOf('I64', [0, 0, 0, 0, 1, 0, 0, 0], [1])).toEqual(Float64Array.of(2 ** 32))
    expect(valuesOf('U8', [200, 7], [2])).toEqual(Uint8Array.of(200, 7))
    expect(valuesOf('BOOL', [1, 0], [2, 1])).toEqual(Uint8Array.of(1, 0))
  })

  test('data may begin at any byte, in the file and in the memory that holds it', () => {
    const header = { a: entry('U8', [1], [0, 1]), b: entry('F32', [1], [1, 5]) }
    const file = fileOf(header, [9, 0, 0, 0x80, 0x3f])
    for (let shift = 0; shift < 4; shift++) {
      const memory = new Uint8Array(file.length + shift)
      memory.set(file, shift)
      const { tensors } = readSafetensors(memory.subarray(shift), 'x')
      expect(tensors.get('b')?.data).toEqual(Float32Array.of(1))
    }
  })

  test('scalars, empty tensors, metadata and any order of the header are fine', () => {
    const { tensors, metadata } = read(
      {
        b: entry('U8', [], [2, 3]),
        empty: entry('F32', [0, 7], [2, 2]),
        __metadata__: { format: 'pt' },
        a: entry('U8', [2], [0, 2]),
      },
      [1, 2, 3],
    )
    expect(metadata).toEqual({ format: 'pt' })
    expect(tensors.get('b')).toEqual({ dtype: 'U8', shape: [], data: Uint8Array.of(3) })
    expect(tensors.get('empty')?.data.length).toBe(0)
    expect(read({}).tensors.size).toBe(0)
  })

  test('every name is just a name', () => {
    const names = ['__proto__', 'constructor', '1', 'a"\\\u{1f600}']
    const tensors = names.map((name, i) => [name, { shape: [1], data: [i] }] as const)
    const back = readSafetensors(writeSafetensors(tensors), 'x').tensors
    expect(names.map((name) => back.get(name)?.data[0])).toEqual([0, 1, 2, 3])
  })
})

describe('refusing', () => {
  const u8 = (offsets: unknown, shape: unknown = [2]) => entry('U8', shape, offsets)

  test.each<[string, unknown, number[], RegExp]>([
    ['not JSON', '{"a"', [], /header: expected JSON/],
    ['not an object', '[]', [], /begins with \{/],
    ['leading space', ' {}', [], /begins with \{/],
    ['a name twice', '{"a":{},"a":{}}', [], /each name once, found "a" twice/],
    ['an escaped name twice', '{"a":{},"\\u0061":{}}', [], /each name once, found "a" twice/],
    ['a key of an entry twice', '{"a":{"shape":[],"shape":[]}}', [], /found "shape" twice/],
    ['depth', '{"a":{"b":{"c":{}}}}', [], /depth of at most 3/],
    ['fractions', '{"a":{"shape":[1.0]}}', [], /whole numbers, found "."/],
    ['negative numbers', { a: u8([-1, 1]) }, [1, 2], /whole numbers, found "-"/],
    [
      'huge numbers',
      '{"a":{"dtype":"U8","shape":[9007199254740993],"data_offsets":[0,0]}}',
      [],
      /tensor "a": expected shape/,
    ],
    [
      'an unknown dtype',
      { a: entry('F8_E4M3', [1], [0, 1]) },
      [1],
      /tensor "a": expected dtype to be one of F64, F32, F16, BF16.* found "F8_E4M3"/,
    ],
    ['a dtype that objects have', { a: entry('constructor', [1], [0, 1]) }, [1], /expected dtype/],
    [
      'no shape',
      { a: { dtype: 'U8', data_offsets: [0, 1] } },
      [1],
      /expected shape .* found nothing/,
    ],
    ['a shape that is no list', { a: u8([0, 1], 1) }, [1], /expected shape/],
    ['three offsets', { a: u8([0, 1, 2]) }, [1, 2], /data_offsets to be two whole numbers/],
    [
      'a size that is not the shape',
      { a: u8([0, 3]) },
      [1, 2, 3],
      /2 bytes apart for U8 \[2\], found \[0, 3\]/,
    ],
    ['an end before the beginning', { a: u8([2, 0]) }, [1, 2], /2 bytes apart/],
    [
      'a shape beyond any file',
      '{"a":{"dtype":"U8","shape":[9007199254740991,9007199254740991],"data_offsets":[0,1]}}',
      [1],
      /bytes apart/,
    ],
    [
      'overlap',
      { a: u8([0, 2]), b: u8([1, 3]) },
      [1, 2, 3],
      /tensor "b": expected its data to begin at byte 2 .* found 1/,
    ],
    [
      'a gap',
      { a: u8([0, 2]), b: u8([3, 5]) },
      [1, 2, 3, 4, 5],
      /tensor "b": .* byte 2 .* found 3/,
    ],
    ['missing data', { a: u8([0, 2]) }, [1], /bytes for the tensors in the header, found/],
    ['data of nobody', { a: u8([0, 2]) }, [1, 2, 3], /bytes for the tensors in the header, found/],
    [
      'metadata that is no object',
      { __metadata__: 'pt' },
      [],
      /__metadata__: expected an object of strings, found "pt"/,
    ],
    [
      'metadata that is no string',
      { __metadata__: { a: 1 } },
      [],
      /__metadata__ "a": expected a string, found 1/,
    ],
    [
      'a strange boolean',
      { a: entry('BOOL', [2], [0, 2]) },
      [1, 2],
      /tensor "a": expected 0 or 1, found 2 at element 1/,
    ],
    [
      'a number beyond 2^53',
      { a: entry('I64', [1], [0, 8]) },
      [0, 0, 0, 0, 0, 0, 0, 1],
      /tensor "a": expected whole numbers within/,
    ],
  ])('%s', (_, header, data, message) => {
    expect(() => read(header, data)).toThrow(message)
    expect(() => read(header, data)).toThrow(ModelFileError)
    expect(() => read(header, data)).toThrow(/^x\.safetensors: /)
  })

  test('a file without room for its header', () => {
    const open = (bytes: number[]) => () => readSafetensors(Uint8Array.from(bytes), 'x')
    expect(open([])).toThrow('x: expected safetensors, found an empty file')
    expect(open([9, 0, 0, 0, 0, 0, 0, 0, 123])).toThrow('header of 9 bytes, found a file of 9')
    expect(open([0, 0, 0, 0, 0, 0, 0, 1])).toThrow(/header of at most 100000000 bytes/)
    expect(open([0, 0, 0, 0, 0, 0, 0, 0])).toThrow(/begins with \{/)
  })

  test('text that is not UTF-8', () => {
    const bytes = fileOf('{"a":1}')
    bytes[10] = 0xff
    expect(() => readSafetensors(bytes, 'x')).toThrow(/JSON in UTF-8/)
  })
})

describe('whatever the bytes', () => {
  /** Either it reads, or it says what is wrong with the file. */
  function survives(bytes: Uint8Array): void {
    try {
      readSafetensors(bytes, 'x')
    } catch (error) {
      if (!(error instanceof ModelFileError)) throw error
      expect(error.message.length).toBeLessThan(1000)
    }
  }
  const valid = writeSafetensors(
    [
      ['model.norm.weight', { shape: [4], data: [1, 2, 3, 4] }],
      ['x', { shape: [2, 1], data: [5, 6] }],
    ],
    { format: 'pt' },
    'F16',
  )

  test('arbitrary bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), survives), { numRuns: 500 })
  })

  test('arbitrary text as header', () => {
    const text = fc.oneof(fc.json(), fc.string({ unit: fc.constantFrom(...'{}[]:,"\\ 01a') }))
    fc.assert(
      fc.property(text, fc.uint8Array({ maxLength: 9 }), (header, data) => {
        survives(fileOf(header, data))
        survives(fileOf(`{"a":${header}}`, data))
      }),
      { numRuns: 500 },
    )
  })

  test('a valid file with bytes changed, cut and added', () => {
    const edit = fc.record({
      at: fc.nat(valid.length),
      kind: fc.constantFrom('flip', 'cut', 'insert'),
      byte: fc.integer({ min: 0, max: 255 }),
    })
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
        let bytes = [...valid]
        for (const { at, kind, byte } of edits) {
          if (kind === 'cut') bytes = bytes.slice(0, at)
          else bytes.splice(at, kind === 'flip' ? 1 : 0, byte)
        }
        survives(Uint8Array.from(bytes))
      }),
      { numRuns: 2000 },
    )
  })

  test('a valid file with a field of its header replaced', () => {
    const any = fc.oneof(
      fc.maxSafeNat(),
      fc.constantFrom('F64', 'BF16', 'I64', 'BOOL'),
      fc.array(fc.maxSafeNat(), { maxLength: 4 }),
      fc.array(fc.nat(9), { maxLength: 3 }),
      fc.jsonValue(),
    )
    fc.assert(
      fc.property(fc.constantFrom('dtype', 'shape', 'data_offsets'), any, (field, value) =>
        survives(
          fileOf({ t: { ...entry('F32', [2], [0, 8]), [field]: value } }, randomValues(8, 1)),
        ),
      ),
      { numRuns: 1000 },
    )
  })
})
