import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ModelFileError } from '../../formats/errors.ts'
import { blobFile, blobFolder, bytesFile, type RangedFile } from '../../formats/ranged_file.ts'
import { openRanged, PIECE_BYTES, streamTensors } from '../../formats/weight_stream.ts'
import { flatSink, openHfModel } from './hf_model.ts'
import { bytesOf, directory, type Files, savedModel, sharded } from './testing.ts'

const rangesOf = (files: Files) => ({
  open: async (name: string) => {
    const bytes = files.get(name)
    return bytes && bytesFile(name, bytes as Uint8Array<ArrayBuffer>)
  },
})

async function loaded(files: Files, pieceBytes?: number) {
  const { layout, load } = await openHfModel(rangesOf(files))
  const weights = new Float32Array(layout.size)
  const progress: number[][] = []
  await load(flatSink(layout, weights), {
    pieceBytes,
    onProgress: (bytes, of) => progress.push([bytes, of]),
  })
  return { weights, progress }
}

/** A file with one tensor of zeros that no memory could hold in pieces larger than planned. */
function zeros(dtype: 'F32' | 'BF16' | 'F64', count: number, width: number): RangedFile {
  const header = bytesOf({ w: { dtype, shape: [count], data_offsets: [0, count * width] } })
  const head = new Uint8Array(8 + header.length)
  new DataView(head.buffer).setUint32(0, header.length, true)
  head.set(header, 8)
  return {
    name: 'zeros.safetensors',
    size: head.length + count * width,
    read: async (begin, end) =>
      end <= head.length ? head.slice(begin, end) : new Uint8Array(end - begin),
  }
}

describe('weights in pieces', () => {
  const { json, named, flat } = savedModel()

  test.each([4, 12, 100, PIECE_BYTES])('of %s bytes are the same weights', async (pieceBytes) => {
    const { weights, progress } = await loaded(directory(json, named), pieceBytes)
    expect(weights).toEqual(flat)
    expect((await loaded(sharded(json, named), pieceBytes)).weights).toEqual(flat)
    const [bytes, of] = progress.at(-1) ?? []
    expect(bytes).toBe(of)
    expect(progress.every(([now], i) => now > (progress[i - 1]?.[0] ?? 0))).toBe(true)
  })

  test.each(['F16', 'BF16'] as const)('of %s are decoded across pieces', async (dtype) => {
    const files = directory(json, named, dtype)
    expect((await loaded(files, 4)).weights).toEqual((await loaded(files)).weights)
  })

  test.each([
    ['F32', 4],
    ['BF16', 2],
    ['F64', 8],
  ] as const)('of %s: one piece of at most 64 MiB is in memory at a time', async (dtype, width) => {
    const file = zeros(dtype, 50_000_000, width)
    let [held, most, written] = [0, 0, 0]
    const counting: RangedFile = {
      ...file,
      read: async (begin, end) => {
        // What was read before must have been written.
        expect(held).toBe(0)
        held = end - begin
        return file.read(begin, end)
      },
    }
    const opened = await openRanged({ ...counting, read: file.read })
    const entry = opened.entries.get('w')
    if (!entry) throw new Error('no tensor')
    const tensor = { name: 'w', file: { ...opened, source: counting }, entry }
    await streamTensors([tensor], {
      write: (_, offset, values) => {
        expect(offset).toBe(written)
        most = Math.max(most, held + values.buffer.byteLength)
        written += values.length
        held = 0
      },
    })
    expect(written).toBe(50_000_000)
    expect(most).toBeGreaterThan(2 ** 24)
    expect(most).toBeLessThanOrEqual(2 ** 26)
  })

  test('a tied head that says something else is found beyond its first piece', async () => {
    const other = flat.slice(0, 11 * 20)
    other[117] += 1
    const twice = new Map([...named, ['lm_head.weight', { shape: [11, 20], data: other }] as const])
    await expect(loaded(directory(json, twice), 40)).rejects.toThrow('at element 117')
  })

  test('a person ends it between two pieces', async () => {
    const { layout, load } = await openHfModel(rangesOf(directory(json, named)))
    const control = new AbortController()
    let pieces = 0
    const loading = load(
      {
        write: () => {
          if (++pieces === 3) control.abort(new Error('It was cancelled.'))
        },
      },
      { signal: control.signal, pieceBytes: 64 },
    )
    await expect(loading).rejects.toThrow('It was cancelled.')
    expect(pieces).toBe(3)
    expect(layout.params.length).toBeGreaterThan(3)
  })
})

test('a file of the browser is read in ranges, and says when it is gone', async () => {
  const file = new File([Uint8Array.of(1, 2, 3, 4)], 'a.safetensors')
  expect(await blobFile(file).read(1, 3)).toEqual(Uint8Array.of(2, 3))
  await expect(blobFile(file).read(1, 9)).rejects.toThrow('Choose the folder again')
  expect(await blobFolder([file]).open('b')).toBeUndefined()
})

test('nothing but ModelFileError, whatever happens to a header', async () => {
  const { json, named } = savedModel()
  const files = directory(json, named)
  const whole = files.get('model.safetensors') ?? new Uint8Array()
  const edit = fc.record({ at: fc.nat(2000), byte: fc.nat(255), cut: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
      let bytes = Uint8Array.from(whole)
      for (const { at, byte, cut } of edits)
        if (cut) bytes = bytes.slice(0, at)
        else bytes[at] = byte
      const outcome = await loaded(new Map([...files, ['model.safetensors', bytes]]), 64).catch(
        (error) => error,
      )
      if (outcome instanceof Error && !(outcome instanceof ModelFileError)) throw outcome
    }),
    { numRuns: 300 },
  )
})
