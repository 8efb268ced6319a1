import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HfTokenizer } from '../../../tasks/tokenizers/hugging_face/hf_tokenizer.ts'
import { parseTokenizerJson } from '../../../tasks/tokenizers/hugging_face/tokenizer_json.ts'
import { patternsAlone } from './patterns_alone.ts'
import { TextTrial, type TrialPort, type TrialRequest } from './text_trial.ts'

const fileOf = (pattern: object) =>
  JSON.stringify({
    normalizer: null,
    post_processor: null,
    decoder: null,
    pre_tokenizer: { type: 'Split', pattern, behavior: 'Isolated' },
    model: { type: 'BPE', vocab: { a: 0, b: 1 }, merges: [] },
    added_tokens: [{ id: 2, content: '<end>', special: true }],
  })

/** Answers unless it is asked for what never ends. */
class FakePort implements TrialPort {
  onmessage: TrialPort['onmessage'] = null
  onerror: TrialPort['onerror'] = null
  isTerminated = false
  readonly asked: TrialRequest[] = []
  postMessage(request: TrialRequest) {
    this.asked.push(request)
    if (request.text !== 'endless') setTimeout(() => this.onmessage?.({} as MessageEvent))
  }
  terminate() {
    this.isTerminated = true
  }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('patterns alone cut a text as the whole tokenizer does', () => {
  const { json, expressions } = patternsAlone(fileOf({ Regex: '[ab]' })) ?? { json: '' }
  expect(expressions).toEqual(['tokenizer.json: Split.pattern: {"Regex":"[ab]"}'])
  expect(new HfTokenizer(parseTokenizerJson(json)).encode('ab<end>a')).toEqual([0, 0, 1, 0])
  expect(patternsAlone(fileOf({ String: 'a' }))).toBeUndefined()
  expect(() => patternsAlone('<html>')).toThrow(/expected JSON/)
})

test('a text on which a pattern does not end is refused by its name, and the next one has another thread', async () => {
  const ports: FakePort[] = []
  const trial = new TextTrial(() => {
    ports.push(new FakePort())
    return ports[ports.length - 1]
  })
  const patterns = patternsAlone(fileOf({ Regex: '(a+)+$' }))
  const first = trial.try(patterns, 'a')
  await vi.advanceTimersByTimeAsync(10)
  await first
  const refused = expect(trial.try(patterns, 'endless')).rejects.toThrow(
    'tokenizer.json: Split.pattern: {"Regex":"(a+)+$"}: took longer than 10 s on one text and was ended',
  )
  await vi.advanceTimersByTimeAsync(10_000)
  await refused
  expect(ports.map(({ isTerminated }) => isTerminated)).toEqual([true])
  const next = trial.try(patterns, 'b')
  await vi.advanceTimersByTimeAsync(10)
  await next
  await trial.try(undefined, 'endless')
  expect(ports.map(({ asked }) => asked.map(({ text }) => text))).toEqual([['a', 'endless'], ['b']])
})
