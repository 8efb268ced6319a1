// Fetching a model in the worker: ended half-way by a person, and continued where it was.
import { expect, test } from 'vitest'
import type { OpenHfModel } from '../../../model/hf/hf_model.ts'
import { memoryDisk } from '../../content/models/memory_disk.ts'
import type { GetAnswer } from '../../content/models/ranged_get.ts'
import { serverOf } from '../../content/models/testing.ts'
import type { ModelEvent } from '../../protocol/opened_model.ts'
import { ModelReader } from './model_reader.ts'

const ADDRESS = 'https://a.example/tiny/'
const WEIGHTS = Uint8Array.from({ length: 2_500_000 }, (_, i) => (i * 7) % 256)
const FILES = {
  [`${ADDRESS}config.json`]: new TextEncoder().encode('{}'),
  [`${ADDRESS}model.safetensors`]: WEIGHTS,
}
const MODEL = {
  config: { model_type: 'qwen3', num_hidden_layers: 2, hidden_size: 8, vocab_size: 5 },
  layout: { num_parameters: 99 },
  dtype: 'F32',
} as unknown as OpenHfModel

interface Asked {
  readonly id: number
  readonly address: string
  readonly begin: number
  readonly end: number
}

/** fetch.html after the person has agreed: asks `server` what comes through the port, and after so
 * many bytes no more. */
function frame(get: ReturnType<typeof serverOf>['get'], mostBytes = Number.POSITIVE_INFINITY) {
  const { port1, port2 } = new MessageChannel()
  let sent = 0
  port2.onmessage = async ({ data: { id, address, begin, end } }: MessageEvent<Asked>) => {
    if (sent >= mostBytes) return
    const answer: GetAnswer = await get(address, begin, end)
    sent += answer.bytes.length
    port2.postMessage({ id, ...answer })
  }
  port2.postMessage({ open: true })
  return port1
}

test('a person ends a download half-way; what has arrived is kept, and the next one fetches the rest', async () => {
  const { disk, folders } = memoryDisk()
  const { get, asked } = serverOf(FILES)
  const events: ModelEvent[] = []
  let [clock, hasEnded] = [0, false]
  const unused = () => Promise.reject(new Error('not here'))
  const own = new ModelReader({
    check: async (folder) => {
      await folder.open('config.json')
      await folder.open('model.safetensors')
      return MODEL
    },
    open: async () => ({
      adapter: '',
      bytes: 1,
      close: () => {},
      parts: async (ids: readonly number[]) => ({
        tokens: ids.length - 1,
        untouched: { log_prob: -1, entropies: [] },
        parts: [],
      }),
      direct: async () => [],
      steer: () => {},
      look: unused,
      changes: unused,
      generation: { isEnd: () => true, write: unused },
    }),
    plan: async () => ({ model_type: 'qwen3', num_parameters: 99, uses: [] }),
    readAdapter: unused,
    disk: async () => disk,
    post: (event) => {
      events.push(event)
      // A piece of the weights has arrived.
      if (hasEnded || event.type !== 'model_progress' || event.progress.bytes < 1e6) return
      hasEnded = true
      own.handle({ type: 'cancel_model' })
    },
    now: () => (clock += 1000),
  })
  const find = (port: MessagePort) =>
    own.handle({ type: 'find_model', place: 'first', address: ADDRESS, port })
  // The frame is silent after the first piece.
  find(frame(get, 1e6))
  await own.idle
  own.handle({ type: 'fetch_model' })
  await own.idle
  expect(events.at(-1)).toMatchObject({
    type: 'model_failed',
    message: 'It was ended. What has arrived is kept.',
  })
  const held = [...folders.values()][0].get('model.safetensors')?.length ?? 0
  expect(held).toBeGreaterThan(0)
  expect(held).toBeLessThan(WEIGHTS.length)

  const before = asked.length
  find(frame(get))
  await own.idle
  own.handle({ type: 'fetch_model' })
  await own.idle
  const found = events.findLast((event) => event.type === 'model_found')
  expect(found?.model.here_bytes).toBe(held + 2)
  expect(events.some(({ type }) => type === 'model_opened')).toBe(true)
  const weights = asked.slice(before).filter(({ address }) => address.endsWith('.safetensors'))
  // Its size by the first byte, then what is missing and nothing before it.
  expect(weights[0]).toMatchObject({ begin: 0, end: 1 })
  expect(Math.min(...weights.slice(1).map(({ begin }) => begin))).toBe(held)
})
