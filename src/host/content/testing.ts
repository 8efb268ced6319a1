// Tests the contract that every place for files keeps: memory, the browser's storage and a folder
// on disk.
import { expect, test } from 'vitest'
import { contentHash } from '../../document/content/content.ts'
import { type ContentFolder, contentStore } from './content_store.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** `open` makes an empty folder. */
export function testContentFolder(what: string, open: () => ContentFolder): void {
  test(`${what}: files are found under their hash, with their name, until they are removed`, async () => {
    const store = contentStore(open())
    expect(await store.list()).toEqual([])
    const [a, b] = [await store.put(bytesOf('abc'), 'a.txt'), await store.put(bytesOf(''), 'ä/…')]
    // FIPS 180-2, appendix B.1.
    expect(a.hash).toBe('sha256-ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(await store.read(a.hash)).toEqual({ hash: a.hash, name: 'a.txt', bytes: bytesOf('abc') })
    expect(new Set(await store.list())).toEqual(new Set([a, b]))
    expect(b).toEqual({ hash: await contentHash(bytesOf('')), name: 'ä/…', bytes: 0 })
    await store.put(bytesOf('abc'), 'b.txt')
    expect((await store.read(a.hash))?.name).toBe('b.txt')
    await store.remove(a.hash)
    await store.remove(a.hash)
    expect(await store.read(a.hash)).toBeUndefined()
    expect(await store.list()).toEqual([b])
  })

  test(`${what}: a damaged file and a name that is no hash are not there`, async () => {
    const folder = open()
    const store = contentStore(folder)
    const { hash } = await store.put(bytesOf('abc'), 'a.txt')
    await folder.write(hash, bytesOf('abd'))
    expect(await store.read(hash)).toBeUndefined()
    for (const name of ['', '../a', `${hash}.name`, 'sha256-1', '__proto__'])
      expect(await store.read(name)).toBeUndefined()
    await store.put(bytesOf('abc'), 'a.txt')
    expect((await store.read(hash))?.bytes).toEqual(bytesOf('abc'))
  })

  test(`${what}: what is handed over or given out is a copy`, async () => {
    const store = contentStore(open())
    const bytes = bytesOf('abc')
    const { hash } = await store.put(bytes, 'a.txt')
    bytes.fill(0)
    const first = await store.read(hash)
    first?.bytes.fill(0)
    expect((await store.read(hash))?.bytes).toEqual(bytesOf('abc'))
  })
}
