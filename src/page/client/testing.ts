// Makes a page and a worker without a browser, for tests of the client.
import { afterEach, beforeEach, vi } from 'vitest'
import type { ContentStore } from '../../document/content/content.ts'
import { contentStore } from '../../host/content/content_store.ts'
import { memoryFolder } from '../../host/content/memory_folder.ts'
import type { LabCommand, LabEvent } from '../../host/protocol/protocol.ts'
import { eventsLoaded } from '../connection/connection.ts'
import type { LabPage, LabPort } from '../connection/port.ts'
import { closeLab, openLab } from './lab.ts'

type Listeners = Record<string, (event: { data?: LabEvent; message?: string }) => void>

export class FakePort {
  readonly commands: LabCommand[] = []
  readonly listeners: Listeners = {}
  isTerminated = false
  postMessage(command: LabCommand) {
    this.commands.push(structuredClone(command))
  }
  terminate() {
    this.isTerminated = true
  }
  addEventListener(type: string, listener: Listeners[string]) {
    this.listeners[type] = listener
  }
  says(...events: LabEvent[]) {
    for (const data of events) this.listeners.message({ data })
  }
}

export const ports: FakePort[] = []
export let frames: (() => void)[] = []
export let queries: string[] = []
export let contents: ContentStore = contentStore(memoryFolder())
/** What is kept of models. */
export const models = new Set<string>()
export let remembered: string | undefined
export const port = () => ports[ports.length - 1]
export const draw = () => {
  const due = frames
  frames = []
  for (const flush of due) flush()
}
export const openPage = (query = '?p=two-skills-bupo', hash = '') => {
  const page: LabPage = {
    address: 'https://understory.example/app/',
    query,
    hash,
    replaceQuery: (to) => queries.push(to),
    nextFrame: (flush) => frames.push(flush),
    recall: () => remembered,
    remember: (cache) => {
      remembered = cache
    },
    contents: async () => contents,
    models: async () => models,
    now: () => 0,
  }
  openLab(() => {
    ports.push(new FakePort())
    return port() as unknown as LabPort
  }, page)
}
export const types = () => port().commands.map(({ type }) => type)
export const adapter = {
  vendor: 'v',
  architecture: '',
  description: '',
  is_software: true,
  features: [],
  max_buffer_bytes: 0,
  max_binding_bytes: 0,
  has_subgroups: false,
  has_f16: false,
}
export const step = (run: number, n: number): LabEvent => ({
  type: 'step',
  run,
  step: n,
  phase: 0,
  phase_step: n,
  metrics: { loss: n },
})

/** A page of its own for every test of the file, on a clock that tests move. */
export function withTestPages(): void {
  beforeEach(async () => {
    await eventsLoaded()
    ports.length = 0
    frames = []
    queries = []
    remembered = undefined
    contents = contentStore(memoryFolder())
    models.clear()
    vi.useFakeTimers()
  })
  afterEach(() => {
    closeLab()
    vi.useRealTimers()
  })
}
