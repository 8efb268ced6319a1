import { afterEach, expect, test, vi } from 'vitest'
import { modelHash } from '../../host/content/models/model_files.ts'
import { shippedNamed } from '../../host/content/models/shipped.ts'
import { choosePreset } from '../client/opening.ts'
import { adapter, openPage, port, withTestPages } from '../client/testing.ts'
import { labStore } from '../state/store.ts'
import { closeModel, openedModelStore } from './opened_model.ts'
import { openShipped, prepareShipped } from './shipped_files.ts'

withTestPages()

const STORY = shippedNamed('story')
const asked: string[] = []

/** A host that has all files of all models. */
function host(): void {
  asked.length = 0
  vi.stubGlobal('fetch', async (address: string) => {
    asked.push(address)
    const file = STORY.files.find(({ name }) => address === `models/story/${name}`)
    if (!file) return { ok: false, status: 404, blob: async () => new Blob() }
    return { ok: true, status: 200, blob: async () => new Blob([new Uint8Array(file.bytes)]) }
  })
}
afterEach(() => {
  closeModel()
  vi.unstubAllGlobals()
})

const opened = () => port().commands.filter(({ type }) => type === 'open_model').length
const isOpen = (hash: string) =>
  port().says({ type: 'model_opened', place: 'first', model: { hash, lists: [] } } as never)

test('a model that is on its way, or there, is not opened again', async () => {
  host()
  openPage()
  await Promise.all([openShipped(STORY), openShipped(STORY)])
  expect(opened()).toBe(1)
  await openShipped(STORY)
  expect(opened()).toBe(1)
  isOpen(modelHash(STORY.files))
  await openShipped(STORY)
  expect(opened()).toBe(1)
  expect(asked).toHaveLength(STORY.files.length)
})

test('another model makes room, and one that failed is asked for again', async () => {
  host()
  openPage()
  await openShipped(STORY)
  isOpen('sha256-of another')
  await openShipped(STORY)
  expect(opened()).toBe(2)
  port().says({ type: 'model_failed', message: 'There is no room.', open: [] })
  await openShipped(STORY)
  expect(opened()).toBe(3)
})

test('a host that lacks a file is named, and asked again the next time', async () => {
  host()
  openPage()
  await expect(openShipped(shippedNamed('sorter'))).rejects.toThrow('models/sorter')
  await expect(openShipped(shippedNamed('sorter'))).rejects.toThrow('the host answered 404')
})

test('a chosen storyteller is made ready before it is asked for, and only where nothing else is', async () => {
  host()
  openPage()
  choosePreset('story-ends')
  prepareShipped() // no adapter yet
  labStore.setState({ adapter, status: 'running' })
  prepareShipped()
  labStore.setState({ status: 'idle' })
  openedModelStore.setState({ facts: { first: { hash: 'another' } as never } })
  prepareShipped()
  expect(asked).toEqual([])
  closeModel()
  prepareShipped()
  await openShipped(STORY)
  expect(opened()).toBe(1)
  expect(asked).toHaveLength(STORY.files.length)
})
