import { expect, test } from 'vitest'
import { httpFile, sizeAt } from './ranged_get.ts'
import { type Manners, serverOf } from './testing.ts'

const BYTES = Uint8Array.from({ length: 100 }, (_, i) => i)
const address = 'https://a.example/m/x.bin'

function file(manners: Manners = {}, size = 100) {
  const { get, asked } = serverOf({ [address]: BYTES }, manners)
  const waited: number[] = []
  const own = httpFile({ name: 'x.bin', address, size }, get, async (ms) => {
    waited.push(ms)
  })
  return { own, asked, waited }
}

test('a range is one request', async () => {
  const { own, asked } = file()
  expect(await own.read(10, 30)).toEqual(BYTES.slice(10, 30))
  expect(asked).toEqual([{ address, begin: 10, end: 30 }])
})

test('a connection that is cut continues at the byte that was reached', async () => {
  const { own, asked } = file({ cutsAt: 37 })
  expect(await own.read(0, 100)).toEqual(BYTES)
  expect(asked.map(({ begin, end }) => [begin, end])).toEqual([
    [0, 100],
    [37, 100],
  ])
})

test('a connection that stays cut is given up after some waits, and a busy server is asked again', async () => {
  const cut = file({ cutsAt: 37, staysCut: true })
  await expect(cut.own.read(0, 100)).rejects.toThrow(
    'The connection to a.example was cut at byte 37 of 100 of x.bin. Fetch it again: what has arrived is kept.',
  )
  expect(cut.waited).toHaveLength(3)
  const busy = file({ busy: 2 })
  expect(await busy.own.read(0, 100)).toEqual(BYTES)
  await expect(file({ busy: 9 }).own.read(0, 100)).rejects.toThrow('a.example is busy')
})

test.for<[string, Manners, number, [number, number], RegExp]>([
  ['no ranges', { hasNoRanges: true }, 100, [50, 60], /answered 200 instead of 206.*choose it/],
  ['a length that is a lie', { saysMore: 5 }, 105, [0, 105], /sent 100 bytes .* had said 105/],
  ['another length than before', { saysMore: 5 }, 100, [0, 50], /has 105 bytes, after .* said 100/],
  ['a file beyond its end', {}, 200, [150, 200], /sent 150 bytes of x.bin, where it had said 200/],
  ['a login', { status: 403 }, 100, [0, 9], /only to those who log in.*choose the folder/],
  ['something else', { status: 418 }, 100, [0, 9], /answered 418 when it was asked for x.bin/],
])('%s is refused in a sentence', async ([, manners, size, [begin, end], message]) => {
  await expect(file(manners, size).own.read(begin, end)).rejects.toThrow(message)
})

test('a small file may come whole from a server without ranges', async () => {
  expect(await file({ hasNoRanges: true }).own.read(0, 100)).toEqual(BYTES)
})

test('a blocked request is no cut connection', async () => {
  const { get } = serverOf({})
  const blocked = httpFile({ name: 'x', address, size: 9 }, async () => {
    throw new TypeError('blocked')
  })
  await expect(blocked.read(0, 9)).rejects.toThrow('blocked')
  await expect(httpFile({ name: 'x', address, size: 9 }, get).read(0, 9)).rejects.toThrow(
    `There is no x at ${address}.`,
  )
})

test('a size is found by the first byte, or by the whole where that is hidden', async () => {
  const sizeOf = (manners: Manners, name = address) =>
    sizeAt(serverOf({ [address]: BYTES }, manners).get, 'x.bin', name)
  expect(await sizeOf({})).toBe(100)
  expect(await sizeOf({ hidesTotal: true })).toBe(100)
  expect(await sizeOf({ hasNoRanges: true })).toBe(100)
  expect(await sizeOf({}, 'https://a.example/none')).toBeUndefined()
  await expect(sizeOf({ status: 401 })).rejects.toThrow('private or gated')
})
