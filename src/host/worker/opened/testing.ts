// Makes a reader of models for tests, whose model says what it was asked.
import type { OpenHfModel } from '../../../model/hf/hf_model.ts'
import type { TextWindow } from '../../../model/internals/lens_window.ts'
import { USUAL_LORA } from '../../../model/layout/lora.ts'
import { memoryDisk } from '../../content/models/memory_disk.ts'
import type { ModelEvent } from '../../protocol/opened_model.ts'
import { ModelReader } from './model_reader.ts'

export const MODEL = {
  config: { model_type: 'qwen3', num_hidden_layers: 2, hidden_size: 8, vocab_size: 5 },
  layout: { num_parameters: 99 },
  dtype: 'F32',
} as unknown as OpenHfModel

export const TOKENIZER = JSON.stringify({
  version: '1.0',
  truncation: null,
  padding: null,
  normalizer: null,
  post_processor: null,
  added_tokens: ['<pad>', '<|im_end|>'].map((content, id) => ({
    id,
    content,
    special: true,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  })),
  pre_tokenizer: {
    type: 'Split',
    pattern: { Regex: '[\\s\\S]' },
    behavior: 'Isolated',
    invert: false,
  },
  decoder: { type: 'Fuse' },
  model: {
    type: 'WordLevel',
    unk_token: '<pad>',
    vocab: { '<pad>': 0, '<|im_end|>': 1, a: 2, b: 3, c: 4 },
  },
})
export const TOKENIZER_CONFIG = JSON.stringify({
  eos_token: '<|im_end|>',
  pad_token: '<pad>',
  chat_template: '{% for m in messages %}{{ m.content }}{% endfor %}b',
})

/** A reader of a model that says what it was asked and writes c, a, b and an end. */
export function reader(disk = memoryDisk().disk) {
  const events: ModelEvent[] = []
  const seen = {
    windows: [] as TextWindow[],
    changed: [] as TextWindow[],
    prompts: [] as (readonly number[])[],
    steered: [] as unknown[],
    vectors: undefined as readonly Float32Array[] | undefined,
    closed: 0,
  }
  const own = new ModelReader({
    check: async (folder) => {
      if (await folder.open('broken')) throw new Error('It is broken.')
      await folder.open('config.json')
      return MODEL
    },
    open: async (_, held, { onProgress, vectors }) => {
      seen.vectors = vectors
      onProgress?.(10, 10)
      return {
        adapter: 'a GPU',
        bytes: 100 + held,
        look: async (window, tokens) => {
          seen.windows.push(window)
          const own = window.ids.slice(window.first, window.first + window.count)
          return { tokens: own.map((id) => tokens[id] ?? `<${id}>`) } as never
        },
        changes: async (window) => {
          seen.changed.push(window)
          return { dH_attn: [1], dH_ffn: [2] }
        },
        parts: async (ids) => ({
          tokens: ids.length - 1,
          untouched: { log_prob: -1, entropies: [] },
          parts: [],
        }),
        direct: async (texts) => {
          seen.steered.push(texts ?? 'none')
          return texts ? [0, 2, 3] : []
        },
        steer: (place) => {
          if (place.layer > 2) throw new RangeError('layer: expected 0 to 2')
          seen.steered.push(place)
        },
        generation: {
          isEnd: (id) => id === 1,
          write: async (ids, { max_tokens }, { signal, onTokens }) => {
            seen.prompts.push(ids)
            const all = [4, 2, 3, 1].slice(0, max_tokens)
            const written = all.map((id) => ({ id, log_prob: Math.log(0.5), entropy: 1 }))
            for (const token of written) {
              if (signal?.aborted) break
              onTokens([token])
              await Promise.resolve()
            }
            return written
          },
        },
        close: () => {
          seen.closed++
        },
      }
    },
    plan: async () => ({ model_type: 'qwen3', num_parameters: 99, uses: [] }),
    readAdapter: async () => ({ lora: { ...USUAL_LORA, r: 4 }, factors: {} }),
    disk: async () => disk,
    post: (event) => events.push(event),
    now: () => 0,
  })
  return { own, events, seen }
}

export const file = (name: string, text = '') => new File([text], name)
export const FILES = [
  file('config.json', '{}'),
  file('tokenizer.json', TOKENIZER),
  file('tokenizer_config.json', TOKENIZER_CONFIG),
]
export const open = (files: readonly File[], adapter: readonly File[] = []) => {
  const own = { name: adapter.length > 0 ? 'own' : '', files: adapter }
  return { type: 'open_model', place: 'first', name: 'tiny', files, adapter: own } as const
}
export const read = (text: string) =>
  ({
    type: 'read_text',
    add_special_tokens: true,
    text,
    wants_changes: false,
    wants_parts: false,
  }) as const
export const SETTINGS = { temperature: 0, top_p: 1, top_k: 0, max_tokens: 9, seed: 1 }
