// Everything that strangers may hand the lab, spoilt at random: refused by name, or read as
// something sound; never slow, never large. HOSTILE_RUNS says how many of each kind are tried.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseExperiment } from '../document/experiment/experiment.ts'
import { readKernels } from '../document/experiment/fields/pinned_kernels.ts'
import { readVerdicts } from '../document/experiment/fields/verdicts.ts'
import { experimentFields } from '../document/experiment/form/form.ts'
import { trainerConfig } from '../document/experiment/trainer_config.ts'
import { decodeLink, encodeLink } from '../document/links/link.ts'
import { decodeSummary, encodeSummary } from '../document/links/summary.ts'
import { readOptions } from '../document/links/view_options.ts'
import { PRESETS } from '../document/presets/presets.ts'
import { ModelFileError } from '../formats/errors.ts'
import { readSafetensors } from '../formats/safetensors.ts'
import { openSafetensors } from '../formats/safetensors_header.ts'
import { writeSafetensors } from '../formats/safetensors_write.ts'
import { decodeCard, encodeCard, makeCard } from '../host/protocol/card.ts'
import { readChoices } from '../host/protocol/kernel_choice.ts'
import { parseHfConfig } from '../model/hf/hf_config.ts'
import { readHeader, readSeries } from '../page/runs/record/read.ts'
import { readLabels } from '../page/runs/record/read_labels.ts'
import { begun, recorderOn, stepEvent, told } from '../page/runs/testing.ts'
import { readRecording } from '../record/files/recording.ts'
import { memoryStorage } from '../record/run/storage.ts'
import { spoiltBytes, spoiltText, spoiltValue } from './spoil/testing.ts'

const RUNS = Number(process.env.HOSTILE_RUNS ?? 300)
/** Of the texts that are megabytes long a parser takes milliseconds each. */
const FEW = Math.ceil(RUNS / 20)
/** A steered link is parsed again for each entry, some milliseconds each. */
const LINKS = Number(process.env.HOSTILE_RUNS ?? 30)
/** No measurement: a parser that takes this long on any machine hangs. */
const HANG_MS = 20_000
/** More than any of these inputs needs, less than a browser misses. */
const MOST_BYTES = 64e6

/** Runs a parser, which must end, and holds it to its memory. */
function bounded<T>(parse: () => T): T {
  const before = process.memoryUsage().arrayBuffers
  const start = performance.now()
  const result = parse()
  expect(performance.now() - start).toBeLessThan(HANG_MS)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MOST_BYTES)
  return result
}

/** What a parser says of bad input: something, and not endless. */
function expectSaid(messages: readonly string[]): void {
  for (const message of messages) {
    expect(message.length).toBeGreaterThan(0)
    expect(message.length).toBeLessThan(2000)
  }
}

/** Milliseconds for one kind: two minutes for a thousand, longer for more. */
const SLOW = 120_000 * Math.max(1, RUNS / 1000)

test('links: every part is read or named, and what comes out can be trained', {
  timeout: SLOW,
}, () => {
  const link = fc
    .constantFrom(...PRESETS)
    .chain(({ experiment }) =>
      spoiltText(
        `${encodeLink(experiment)}&actor.optim.lr=0.001&steering.0=3,next_phase&steering.1=4,set,actor.optim.lr,0.0005&kernels=default`,
      ),
    )
  fc.assert(
    fc.property(link, (query) => {
      const { experiment, notices } = bounded(() => decodeLink(query))
      expectSaid(notices)
      expect(parseExperiment(experiment).ok).toBe(true)
      expect(experimentFields(experiment).length).toBeGreaterThan(0)
    }),
    { numRuns: LINKS },
  )
})

test('experiment files: a sound experiment, or the fields that are wrong', {
  timeout: SLOW,
}, () => {
  const document = fc.constantFrom(...PRESETS).chain(({ experiment }) =>
    fc.oneof(
      spoiltValue(experiment),
      spoiltText(JSON.stringify(experiment)).map((text) => {
        try {
          return JSON.parse(text)
        } catch {
          return text
        }
      }),
    ),
  )
  fc.assert(
    fc.property(document, (spoilt) => {
      const parsed = bounded(() => parseExperiment(spoilt))
      if (parsed.ok) bounded(() => trainerConfig(parsed.experiment))
      else {
        expect(parsed.issues.length).toBeGreaterThan(0)
        expectSaid(parsed.issues.map(({ path, message }) => `${path}: ${message}`))
      }
    }),
    { numRuns: RUNS },
  )
})

test('what follows # in a link: result cards, summaries, hidden parts', { timeout: SLOW }, () => {
  const numbers = { step_ms: 12, matmul_gflops: 3, peak_gflops: 4, peak_gb_s: 5 }
  const card = encodeCard(makeCard('An adapter', 'A browser 1', numbers as never))
  const summary = encodeSummary({
    adapter: 'An adapter',
    steps: 30,
    lines: [{ metric: 'critic/score/mean', steps: [1, 2, 30], values: [0, 0.5, 1] }],
  } as never)
  fc.assert(
    fc.property(spoiltText(card), spoiltText(summary), ({ length }, text) => {
      const spoilt = text.slice(0, length + text.length)
      const { notices } = bounded(() => decodeCard(`#${text}`))
      expectSaid(notices)
      bounded(() => decodeSummary(spoilt))
      bounded(() => readOptions(`#${spoilt}`))
    }),
    { numRuns: RUNS },
  )
  fc.assert(
    fc.property(spoiltText(`#${card}`), (hash) =>
      expectSaid(bounded(() => decodeCard(hash)).notices),
    ),
    { numRuns: RUNS },
  )
})

test('fields with a language of their own: kernels, verdicts, remembered kernels', {
  timeout: SLOW,
}, () => {
  fc.assert(
    fc.property(
      spoiltText('nt_m64_n32_k16:skinny_8x16,*:vector_4x4'),
      spoiltText('aabbs3u10ab'),
      spoiltText('{"version":"x","matmul":{"a|b|c":{"nt_m64_n32_k16":"vector_4x4"}}}'),
      (kernels, verdicts, remembered) => {
        bounded(() => readKernels(kernels))
        bounded(() => readVerdicts(verdicts))
        bounded(() => readChoices(remembered, 'x', new Set(['vector_4x4'])))
      },
    ),
    { numRuns: RUNS },
  )
})

test('recorded runs', { timeout: SLOW }, () => {
  const source = readFileSync('public/recordings/first-steps.json', 'utf8')
  // Cuts at the beginning and in the middle: the parser reads it all either way.
  fc.assert(
    fc.property(spoiltText(source), (text) => {
      const read = bounded(() => readRecording(text))
      if (!read.ok) expectSaid([JSON.stringify(read)])
    }),
    { numRuns: FEW },
  )
})

test('runs of the browser’s database', { timeout: SLOW }, async () => {
  const storage = memoryStorage()
  const { recorder } = recorderOn(storage)
  const state = told(begun(1), stepEvent(1, 0), stepEvent(1, 1), stepEvent(1, 2))
  recorder.see(state)
  await recorder.flush(true)
  const { headers } = await storage.list()
  const stored = await storage.read('run-1')
  if (!stored) throw new Error('nothing was written')
  expect(readHeader(headers[0]).ok).toBe(true)
  fc.assert(
    fc.property(spoiltValue(headers[0]), spoiltValue(stored.chunks), (header, chunks) => {
      const read = bounded(() => readHeader(header))
      if (!read.ok) expectSaid([read.why])
      bounded(() => readLabels(header, 'run-1', 0))
      const series = bounded(() => readSeries(Array.isArray(chunks) ? chunks : [chunks]))
      for (const { length, steps } of series.values())
        expect(length).toBeLessThanOrEqual(steps.length)
    }),
    { numRuns: RUNS },
  )
})

test('safetensors: read, or refused with the file’s name and the place', { timeout: SLOW }, () => {
  const bytes = writeSafetensors([
    ['model.norm.weight', { shape: [4], data: [1, 2, 3, 4] }],
    ['model.layers.0.mlp.up_proj.weight', { shape: [2, 3], data: [1, 2, 3, 4, 5, 6] }],
  ])
  fc.assert(
    fc.property(spoiltBytes(bytes), (spoilt) => {
      try {
        bounded(() => openSafetensors(spoilt, 'model.safetensors'))
        bounded(() => readSafetensors(spoilt, 'model.safetensors'))
      } catch (error) {
        if (!(error instanceof ModelFileError)) throw error
        expect(error.message).toContain('model.safetensors')
        expectSaid([error.message])
      }
    }),
    { numRuns: RUNS },
  )
})

test('a header that promises more than there is allocates nothing', () => {
  const header = JSON.stringify({
    a: { dtype: 'F32', shape: [2 ** 40], data_offsets: [0, 2 ** 42] },
  })
  const bytes = new Uint8Array(8 + header.length)
  new DataView(bytes.buffer).setUint32(0, header.length, true)
  bytes.set(new TextEncoder().encode(header), 8)
  expect(() => bounded(() => readSafetensors(bytes, 'large.safetensors'))).toThrow(ModelFileError)
  new DataView(bytes.buffer).setUint32(4, 0xffffffff, true)
  expect(() => bounded(() => readSafetensors(bytes, 'large.safetensors'))).toThrow(/header/)
})

test('config.json of a model directory', { timeout: SLOW }, () => {
  const config = {
    model_type: 'qwen3',
    vocab_size: 32,
    hidden_size: 16,
    intermediate_size: 24,
    num_hidden_layers: 2,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    head_dim: 8,
    rms_norm_eps: 1e-6,
    rope_theta: 10000,
    tie_word_embeddings: true,
    hidden_act: 'silu',
    max_position_embeddings: 64,
    architectures: ['Qwen3ForCausalLM'],
  }
  fc.assert(
    fc.property(spoiltValue(config), (spoilt) => {
      try {
        bounded(() => parseHfConfig(spoilt, 'config.json'))
      } catch (error) {
        if (!(error instanceof ModelFileError)) throw error
        expect(error.message).toContain('config.json')
        expectSaid([error.message])
      }
    }),
    { numRuns: RUNS },
  )
})
