// A run that begins with an opened model, on a GPU that has no room for one of its buffers: each in
// turn. Here, because lab may not load the GPU side.
import { expect, test } from 'vitest'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { trainerConfig } from '../../document/experiment/trainer_config.ts'
import { bytesFile, type RangedFolder } from '../../formats/ranged_file.ts'
import { tinyExperiment } from '../../host/checkpoints/testing.ts'
import { memoryDisk } from '../../host/content/models/memory_disk.ts'
import { hashedFile, type ModelFile } from '../../host/content/models/model_files.ts'
import { ModelStore } from '../../host/content/models/model_store.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import { systemClock } from '../../host/worker/base/session_host.ts'
import { SteeredRun } from '../../host/worker/base/steered_run.ts'
import { UNMEASURED } from '../../host/worker/kernels/run_kernels.ts'
import { listOf, startOf } from '../../host/worker/opened/start_of.ts'
import { loadStart } from '../../host/worker/opened/start_weights.ts'
import { type RunDevice, Session } from '../../host/worker/session.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { fullAt } from '../../kernels/device/testing.ts'
import { readAdapter } from '../../model/hf/peft_adapter.ts'
import { directory, savedModel } from '../../model/hf/testing.ts'
import { openFiles } from '../../rl/look/opened_files.ts'
import { steeredEngine } from '../../rl/train/engine.ts'

/** Smaller buffers are not failed: a run has hundreds of them. */
const LARGE = 8192
/** Of every kind one: base, adapter, its gradients and moments, what passes keep, what is read
 * back. */
const MUST = ['weights.0', 'adapter', 'gradients', 'adam_m', 'adam_v', 'gate_up.0', 'staging']
const PHASES = [{ kind: 'rl', steps: 2 }]
const { disk } = memoryDisk()

/** Keeps a model of the task's sizes, and makes the experiment that begins with it and trains an
 * adapter. */
async function keptModel(): Promise<{ experiment: Experiment; embedding: ArrayLike<number> }> {
  const { model } = trainerConfig(tinyExperiment({ phases: PHASES }))
  const { json, named } = savedModel(model)
  const all = directory(json, named, 'BF16')
  const of = (name: string) => bytesFile(name, new Uint8Array(all.get(name) ?? []))
  const files: ModelFile[] = []
  for (const name of all.keys()) {
    const file = of(name)
    files.push({ name, bytes: file.size, sha256: await hashedFile(file).digest() })
  }
  await new ModelStore(disk).keep({ name: 'tiny', source: '', files }, ({ name }) => of(name))
  const lists = [listOf('tiny', files)]
  const { fields } = startOf(
    {
      address: '',
      config: model,
      exactDtype: 'bfloat16',
      lists,
      tokenizer: {},
      enable_gradient_checkpointing: false,
    },
    'fresh',
  )
  const embedding = named.get('model.embed_tokens.weight')?.data ?? []
  return { experiment: tinyExperiment({ phases: PHASES, model: fields }), embedding }
}

/** A session over real devices, as the worker makes them. `lab.gpu` is the WebGPU of the next
 * run. */
function realLab(experiment: Experiment) {
  const events: LabEvent[] = []
  const lab = { gpu: navigator.gpu, devices: [] as Gpu[], first_weight: Number.NaN }
  const prepare = async (): Promise<RunDevice> => {
    const gpu = await Gpu.open({ gpu: lab.gpu })
    lab.devices.push(gpu)
    return {
      adapter: gpu.facts,
      lost: gpu.lost,
      ...UNMEASURED,
      start: async () => {
        const run = await SteeredRun.begin(steeredEngine(gpu, undefined), experiment)
        const model = (folder: RangedFolder) => openFiles(folder, undefined)
        const readers = { model, adapter: readAdapter }
        await loadStart(experiment, async () => disk, readers, run.trainer)
        lab.first_weight = (await run.trainer.exportWeights())[0]
        return {
          trainer: run,
          counts: gpu.counts,
          memory: () => gpu.memory(),
          profile: (work) => gpu.profile(work),
        }
      },
      free: async () => gpu.destroy(),
    }
  }
  const unused = () => Promise.reject(new Error('not here'))
  const session = new Session({
    open: unused,
    benchmark: unused,
    peak: async () => undefined,
    version: 'test',
    prepare,
    post: (event) => events.push(event),
    ...systemClock,
  })
  return { lab, events, session }
}

test('no room for any large buffer of a run that begins with a model ends it with a sentence; the next one trains', async () => {
  const { experiment, embedding } = await keptModel()
  const { lab, events, session } = realLab(experiment)
  const labels = new Set<string>()
  for (let nth = 0; ; nth++) {
    const { gpu, seen, restore } = fullAt(nth, LARGE)
    lab.gpu = gpu
    const before = events.length
    session.handle({ type: 'start', run: nth, record: `${nth}`, experiment, paused: false })
    await session.idle
    restore()
    expect(lab.devices[nth].counts.live_bytes).toBe(0)
    const own = events.slice(before)
    const failed = own.find((event) => event.type === 'failed')
    if (!failed) {
      expect(own.filter(({ type }) => type === 'step')).toHaveLength(3)
      expect(nth).toBe(seen.large)
      break
    }
    const { code, message } = failed.error
    expect(code).toBe('out_of_memory')
    expect(message).toMatch(
      /needs \d+\.\d MB, and the GPU has no room for it beside the \d+\.\d MB/,
    )
    labels.add(message.split(' needs ')[0])
  }
  expect([...labels]).toEqual(expect.arrayContaining(MUST))
  // The file's bfloat16, and not the seed's weight.
  expect(lab.first_weight).toBeCloseTo(embedding[0], 2)
})
