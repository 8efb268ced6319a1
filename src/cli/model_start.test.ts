// Tests what a person takes from an opened model: the start of an experiment, with or without an
// adapter, and a folder of its own.
import { expect, test } from 'vitest'
import { parseExperiment } from '../document/experiment/experiment.ts'
import { trainerConfig } from '../document/experiment/trainer_config.ts'
import type { RangedFolder } from '../formats/ranged_file.ts'
import { memoryDisk } from '../host/content/models/memory_disk.ts'
import type { ModelEvent, ModelStart, SavedFile } from '../host/protocol/opened_model.ts'
import { ModelReader } from '../host/worker/opened/model_reader.ts'
import { wholeFiles } from '../host/worker/opened/model_sources.ts'
import { loadStart } from '../host/worker/opened/start_weights.ts'
import { readHfModel } from '../model/hf/hf_model.ts'
import { readAdapter, withAdapter } from '../model/hf/peft_adapter.ts'
import { directory, savedModel, source } from '../model/hf/testing.ts'
import { adapterFiles } from '../model/hf/write_adapter.ts'
import { adapterLayout, initialAdapter } from '../model/layout/adapter_layout.ts'
import { modelShape } from '../model/layout/config.ts'
import { USUAL_LORA } from '../model/layout/lora.ts'
import { openFiles } from '../rl/look/opened_files.ts'

const { json, named } = savedModel()
const base = await readHfModel(source(directory(json, named)))
const LORA = { ...USUAL_LORA, r: 2, lora_alpha: 6, target_modules: ['q_proj', 'v_proj'] }
const layout = adapterLayout(modelShape(base.config), LORA)
const factors = initialAdapter(layout, 3).map((x, i) => x + Math.sin(i) / 8)

const filesOf = (files: ReadonlyMap<string, Uint8Array>) =>
  [...files].map(([name, bytes]) => new File([new Uint8Array(bytes)], name))
const ADAPTER = {
  name: 'own adapter',
  files: adapterFiles({ layout, weights: factors, base_model_name_or_path: 'base' }).map(
    ({ path, pieces }) => new File([...pieces], path),
  ),
}
const NO_ADAPTER = { name: '', files: [] as File[] }
const MODEL = { type: 'open_model', place: 'first', name: 'tiny', adapter: NO_ADAPTER } as const
const { disk } = memoryDisk()
const getDisk = async () => disk

/** A reader that checks real files and has no GPU. */
function reader() {
  const events: ModelEvent[] = []
  const own = new ModelReader({
    check: (folder, adapter) =>
      openFiles(folder, adapter.length > 0 ? wholeFiles(adapter) : undefined),
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
      look: async () => ({}) as never,
      changes: async () => ({ dH_attn: [], dH_ffn: [] }),
      generation: { isEnd: () => true, write: async () => [] },
    }),
    plan: async () => ({ model_type: 'qwen3', num_parameters: 1, uses: [] }),
    readAdapter,
    disk: getDisk,
    post: (event) => events.push(event),
    now: () => 0,
  })
  const found = <T extends ModelEvent['type']>(type: T) =>
    events.findLast((event) => event.type === type) as Extract<ModelEvent, { type: T }>
  return { own, found }
}

const NO_TEACHER = { source: null, source_name: null }

async function startOf(dtype: 'F32' | 'BF16', adapter?: typeof ADAPTER, has_adapter = false) {
  const { own, found } = reader()
  own.handle({ ...MODEL, files: filesOf(directory(json, named, dtype)) })
  if (adapter) own.handle({ type: 'add_adapter', adapter })
  own.handle({ type: 'start_from', has_adapter })
  await own.idle
  expect(found('model_failed')).toBeUndefined()
  return found('model_start').start
}

function configOf({ fields }: ModelStart) {
  const parsed = parseExperiment({ model: fields })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return { model: parsed.experiment.model, config: trainerConfig(parsed.experiment).model }
}

test('a run of all weights has float32 alone, one with an adapter has a BF16 base in bfloat16', async () => {
  const { config } = configOf(await startOf('BF16'))
  expect([config.dtype, config.lora]).toEqual([undefined, undefined])
  const fresh = configOf(await startOf('BF16', undefined, true)).config
  expect(fresh).toMatchObject({ dtype: 'bfloat16', lora: USUAL_LORA })
  expect(configOf(await startOf('F32', undefined, true)).config.dtype).toBeUndefined()
  const own = configOf(await startOf('BF16', ADAPTER)).config
  expect(own).toMatchObject({ dtype: 'bfloat16', lora: LORA })
})

test('an adapter of a folder is kept by its hash, and a run begins with its factors', async () => {
  const start = await startOf('F32', ADAPTER)
  const { model, config } = configOf(start)
  expect(start.lists.map(({ name }) => name)).toEqual(['tiny', 'own adapter'])
  expect(model.lora).toMatchObject({ source: start.lists[1].hash, source_name: 'own adapter' })
  let given = new Float32Array()
  const target = {
    layout: { ...base.layout, shape: modelShape(config) },
    weightSink: () => ({ write: () => {} }),
    importAdapter: (flat: Float32Array) => {
      given = Float32Array.from(flat)
    },
  }
  const readers = {
    model: (folder: RangedFolder) => openFiles(folder, undefined),
    adapter: readAdapter,
  }
  await loadStart({ model, teacher: NO_TEACHER }, getDisk, readers, target)
  for (const { offset, size } of layout.params)
    expect(given.slice(offset, offset + size)).toEqual(factors.slice(offset, offset + size))
  const other = { ...modelShape(config), lora: { ...LORA, lora_alpha: 1 } }
  const changed = { ...target, layout: { ...base.layout, shape: other } }
  await expect(
    loadStart({ model, teacher: NO_TEACHER }, getDisk, readers, changed),
  ).rejects.toThrow('another rank, alpha or other modules')
  const lost = { ...model, lora: { ...model.lora, source: `sha256-${'0'.repeat(64)}` } }
  await expect(
    loadStart({ model: lost, teacher: NO_TEACHER }, getDisk, readers, target),
  ).rejects.toThrow('own adapter (sha256-000')
})

const read = (files: readonly SavedFile[]) => ({
  read: async (name: string) => {
    const file = files.find(({ path }) => path === name)
    return file && new Uint8Array(await file.blob.arrayBuffer())
  },
})

test.each(['F32', 'BF16'] as const)(
  'a model of %s is saved with its adapter merged',
  async (dtype) => {
    const { own, found } = reader()
    own.handle({ ...MODEL, files: filesOf(directory(json, named, dtype)), adapter: ADAPTER })
    own.handle({ type: 'save_model' })
    await own.idle
    const { name, files } = found('model_saved')
    expect(name).toBe('tiny-merged')
    const saved = await readHfModel(read(files))
    const whole = await readHfModel(source(directory(json, named, dtype)))
    expect(saved.weights).toEqual((await withAdapter(whole, wholeFiles(ADAPTER.files))).weights)
    const config = new TextDecoder().decode(await read(files).read('config.json'))
    expect(JSON.parse(config)).toMatchObject({ dtype: 'float32' })
  },
)

test('a kept adapter is listed as such, and merged into the model that is open', async () => {
  await startOf('F32', ADAPTER)
  const { own, found } = reader()
  own.handle({ type: 'list_models' })
  await own.idle
  const { models } = found('models_kept')
  const [adapter] = models.filter(({ is_adapter }) => is_adapter)
  const [model] = models.filter(({ is_adapter }) => !is_adapter)
  own.handle({ type: 'open_kept', place: 'first', folder: adapter.folder })
  await own.idle
  expect(found('model_failed').message).toBe('There is no model: open its folder first.')
  own.handle({ type: 'open_kept', place: 'first', folder: model.folder })
  own.handle({ type: 'open_kept', place: 'first', folder: adapter.folder })
  await own.idle
  expect(found('model_opened').model).toMatchObject({ adapter: 'own adapter', is_kept: true })
})
