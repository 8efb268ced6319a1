import { describe, expect, test } from 'vitest'
import { contentHash } from '../../../document/content/content.ts'
import { bytesFile } from '../../../formats/ranged_file.ts'
import { memoryDisk } from './memory_disk.ts'
import { modelAddress } from './model_address.ts'
import { hashedFile, modelHash, namesOfModel, shardsOf } from './model_files.ts'
import { type KeptModel, ModelStore } from './model_store.ts'
import { findRemote, parseListing, remoteFile } from './remote_model.ts'
import { type Manners, serverOf } from './testing.ts'

const text = (value: string) => new Uint8Array(new TextEncoder().encode(value))
const WEIGHTS = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 7) % 256)
const FILES = { 'config.json': text('{}'), 'model.safetensors': WEIGHTS }
const address = modelAddress('https://a.example/tiny')
const at = (files: Readonly<Record<string, Uint8Array<ArrayBuffer>>>) =>
  Object.fromEntries(Object.entries(files).map(([name, bytes]) => [address.fileAt(name), bytes]))

/** Fetches a model into a disk. */
async function fetched(disk = memoryDisk().disk, manners: Manners = {}, files = FILES) {
  const { get, asked } = serverOf(at(files), manners)
  const model = await findRemote(address, get)
  const store = new ModelStore(disk)
  const looked = asked.length
  const what = { name: model.address.name, source: model.address.source, files: model.files }
  const open = (file: (typeof model.files)[number]) => remoteFile(model, file, get, async () => {})
  const keeping = store.keep(what, open, { now: () => 0 })
  return { store, model, keeping, asked: () => asked.slice(looked) }
}

test('a model is fetched, listed with its hash and size, read and forgotten', async () => {
  const { store, keeping } = await fetched()
  const kept = await keeping
  const hash = await contentHash(WEIGHTS)
  expect(kept.files[1]).toEqual({ name: 'model.safetensors', bytes: 3_000_000, sha256: hash })
  expect(kept.hash).toBe(modelHash(kept.files))
  expect(await store.list()).toEqual([kept])
  const file = await store.files(kept).open('model.safetensors')
  expect(await file?.read(100, 105)).toEqual(WEIGHTS.slice(100, 105))
  expect(await store.files(kept).open('none')).toBeUndefined()
  await store.forget(kept)
  expect(await store.list()).toEqual([])
})

test('a download that was cut continues where it was, also on another day, and its hash is whole', async () => {
  const { disk, folders } = memoryDisk()
  const first = await fetched(disk, { cutsAt: 2_000_000, staysCut: true })
  await expect(first.keeping).rejects.toThrow('The connection to a.example was cut')
  const [begun] = await first.store.list()
  expect(begun.hash).toBeUndefined()
  const held = folders.get(begun.folder)?.get('model.safetensors')?.length ?? 0
  expect(held).toBeGreaterThan(0)
  const second = await fetched(disk)
  const kept = await second.keeping
  expect(second.asked().find(({ address }) => address.endsWith('safetensors'))?.begin).toBe(held)
  expect(kept.files[1].sha256).toBe(await contentHash(WEIGHTS))
  expect(await second.store.list()).toEqual([kept])
})

test('what arrives with another hash is removed and refused', async () => {
  const { disk, folders } = memoryDisk()
  const store = new ModelStore(disk)
  const model: Omit<KeptModel, 'hash'> = {
    name: 'tiny',
    source: 'hf:a/b@main',
    files: [{ name: 'model.safetensors', bytes: 3, sha256: await contentHash(text('abc')) }],
  }
  const open = (own: string) => () => bytesFile('model.safetensors', text(own))
  await expect(store.keep(model, open('abd'))).rejects.toThrow('arrived damaged: expected sha256-')
  expect([...folders.values()][0].get('model.safetensors')).toHaveLength(0)
  expect((await store.keep(model, open('abc'))).hash).toMatch(/^sha256-/)
})

test('a disk that is full is said before anything is fetched', async () => {
  const { keeping, asked } = await fetched(memoryDisk(2 ** 20).disk)
  await expect(keeping).rejects.toThrow('tiny takes 3 MiB, and the browser has room for 1 MiB')
  expect(asked()).toEqual([])
})

test('a person ends it, and it is still there', async () => {
  const { disk } = memoryDisk()
  const stop = new AbortController()
  const store = new ModelStore(disk)
  const files = [{ name: 'model.safetensors', bytes: WEIGHTS.length }]
  const keeping = store.keep(
    { name: 'tiny', source: '', files },
    () => bytesFile('model.safetensors', WEIGHTS),
    { signal: stop.signal, onProgress: () => stop.abort(new Error('It was cancelled.')) },
  )
  await expect(keeping).rejects.toThrow('It was cancelled.')
  expect((await store.list())[0]).toMatchObject({ name: 'tiny' })
})

describe('what makes a model', () => {
  test('weights are taken once, and other files not at all', () => {
    const small = ['config.json', 'tokenizer.json']
    const shards = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors']
    const index = 'model.safetensors.index.json'
    expect(namesOfModel(['README.md', 'pytorch_model.bin', ...small])).toEqual(small)
    expect(namesOfModel([...shards, index, ...small])).toEqual([...small, index, ...shards])
    expect(namesOfModel([...shards, index, 'model.safetensors'])).toEqual(['model.safetensors'])
  })

  test('an index names shards of the folder and nothing else', () => {
    const index = (weight_map: unknown) => JSON.stringify({ weight_map })
    expect(shardsOf(index({ a: 'x.safetensors', b: 'x.safetensors' }))).toEqual(['x.safetensors'])
    for (const bad of ['{', index({}), index({ a: '../x.safetensors' }), index({ a: 3 }), '[]'])
      expect(() => shardsOf(bad)).toThrow(RangeError)
  })

  test('a listing of the Hub has sizes and hashes; strange entries are left out', () => {
    const oid = 'ab'.repeat(32)
    const listed = [
      { type: 'file', path: 'model.safetensors', size: 9, oid: 'x', lfs: { oid, size: 9 } },
      { type: 'file', path: 'config.json', size: 3, oid: 'y' },
      { type: 'directory', path: 'onnx' },
      { type: 'file', path: 'onnx/model.onnx', size: 3 },
      { type: 'file', path: 'bad', size: -1 },
      null,
    ]
    expect(parseListing(JSON.stringify(listed))).toEqual([
      { name: 'model.safetensors', bytes: 9, sha256: `sha256-${oid}` },
      { name: 'config.json', bytes: 3 },
    ])
    expect(() => parseListing('<html>')).toThrow('something else than a list of files')
    expect(() => parseListing('{}')).toThrow('something else than a list of files')
  })

  test('a folder without a listing is searched, with its shards; one without weights is refused', async () => {
    const weight_map = { a: 'model-00001-of-00001.safetensors' }
    const files = {
      'config.json': text('{}'),
      'model.safetensors.index.json': text(JSON.stringify({ weight_map })),
      'model-00001-of-00001.safetensors': text('x'),
    }
    const { files: found } = await findRemote(address, serverOf(at(files)).get)
    expect(found.map(({ name }) => name)).toEqual(Object.keys(files))
    const none = findRemote(address, serverOf(at({ 'config.json': text('{}') })).get)
    await expect(none).rejects.toThrow('tiny holds no weights as safetensors')
    await expect(findRemote(address, serverOf({}).get)).rejects.toThrow('no config.json')
  })

  test('a file is hashed as it is read, in any order', async () => {
    const file = hashedFile(bytesFile('x', WEIGHTS))
    await file.read(10, 20)
    await file.read(0, 15)
    await file.read(1_000_000, 1_000_010)
    expect(await file.digest()).toBe(await contentHash(WEIGHTS))
  })
})
