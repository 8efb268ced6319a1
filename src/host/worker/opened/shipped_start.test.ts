// The shipped models: their lists are of the files in public/models, and a run gets them from the
// host of the page.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { contentHash } from '../../../document/content/content.ts'
import { presetOf } from '../../../document/presets/presets.ts'
import { memoryDisk } from '../../content/models/memory_disk.ts'
import { modelHash, namesOfModel } from '../../content/models/model_files.ts'
import { ModelStore } from '../../content/models/model_store.ts'
import shipped from '../../content/models/shipped.json' with { type: 'json' }
import { shippedList, shippedModel } from '../../content/models/shipped.ts'
import { diskOfStart } from './shipped_start.ts'

const SOURCE = presetOf('countdown-pretrained')?.experiment.model.source ?? ''
const PUBLIC = 'public/'
const fromDisk = async (path: string) => new Uint8Array(readFileSync(PUBLIC + path))
const quiet = () => {}

test.each(Object.entries(shipped))(
  '%s: its files are those that are listed',
  async (name, files) => {
    const folder = `${PUBLIC}models/${name}`
    expect(files.map((file) => file.name).sort()).toEqual(
      [...namesOfModel(readdirSync(folder))].sort(),
    )
    for (const { name: fileName, bytes, sha256 } of files) {
      const file = new Uint8Array(readFileSync(`${folder}/${fileName}`))
      expect([fileName, file.length, await contentHash(file)]).toEqual([fileName, bytes, sha256])
    }
    const hash = modelHash(files)
    expect(shippedModel(hash)?.name).toBe(name)
    const list = shippedList(hash)
    expect(list && (await contentHash(list.bytes))).toBe(hash)
  },
)

test('the preset begins with a shipped model, and no name is one', () => {
  expect(shippedModel(SOURCE)?.name).toBe('arithmetic')
  expect(shippedList('')).toBeUndefined()
})

describe('the disk of a start', () => {
  test('has the shipped model from the host where the browser does not keep it, and nothing is written there', async () => {
    const own = memoryDisk()
    const said: string[] = []
    const disk = await diskOfStart(
      SOURCE,
      async () => own.disk,
      async (path, onBytes) => {
        const bytes = await fromDisk(path)
        onBytes(bytes.length)
        return bytes
      },
      (message) => said.push(message),
    )
    const [kept] = disk ? await new ModelStore(disk).list() : []
    expect(kept.hash).toBe(SOURCE)
    expect(own.folders.size).toBe(0)
    expect(said.at(-1)).toMatch(/^Fetching the model arithmetic: (\d+) of \1 KiB$/)
  })

  test('is the browser’s own where it keeps the model, and for every other model', async () => {
    const never = () => Promise.reject(new Error('asked'))
    const { disk } = memoryDisk()
    const { name, files } = shippedModel(SOURCE) ?? { name: '', files: [] }
    expect(await diskOfStart('', async () => disk, never, quiet)).toBe(disk)
    expect(await diskOfStart('', async () => undefined, never, quiet)).toBeUndefined()
    const bytes = new Map(
      await Promise.all(
        files.map(
          async (file) => [file.name, await fromDisk(`models/${name}/${file.name}`)] as const,
        ),
      ),
    )
    await new ModelStore(disk).keep({ name, source: '', files }, (file) => ({
      ...file,
      size: file.bytes,
      read: async (begin, end) => (bytes.get(file.name) ?? new Uint8Array()).slice(begin, end),
    }))
    expect(await diskOfStart(SOURCE, async () => disk, never, quiet)).toBe(disk)
  })

  test.for([
    ['nothing comes', async () => Promise.reject(new Error('the host answered 404')), /404/],
    ['another page comes', async () => new Uint8Array(20), /expected 897 bytes, found 20/],
    [
      'a byte is another one',
      async (path: string) => (await fromDisk(path)).map((byte, i) => (i === 30 ? 0 : byte)),
      /damaged/,
    ],
  ] as const)('refuses with a sentence where %s', async ([, ownFile, why]) => {
    const asked = diskOfStart(SOURCE, async () => undefined, ownFile, quiet)
    await expect(asked).rejects.toThrow(/^The model arithmetic of this site could not be loaded/)
    await expect(asked).rejects.toThrow(why)
  })
})
