// Runs the worker: owns the GPU and the trainer. It is the only file of host that loads the GPU
// side.
import { version as understoryVersion } from '../../../package.json'
import { followExperiment } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { trainerConfig } from '../../document/experiment/trainer_config.ts'
import { browserName } from '../../document/links/names.ts'
import { presetOf } from '../../document/presets/presets.ts'
import type { RangedFolder } from '../../formats/ranged_file.ts'
import { mostBinding } from '../../kernels/device/adapter.ts'
import type { MemoryPlan } from '../../kernels/device/base/tensor.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { gpuChoice } from '../../kernels/matmul/gpu_variants.ts'
import {
  defaultVariant,
  MATMUL_VARIANTS,
  missingFeatures,
  shapeClass,
} from '../../kernels/matmul/matmul_variants.ts'
import { type Peak, probePeak } from '../../kernels/peak/peak.ts'
import { type AdapterSpeed, probeSpeed } from '../../kernels/peak/speed.ts'
import { readAdapter } from '../../model/hf/peft_adapter.ts'
import { openFiles } from '../../rl/look/opened_files.ts'
import { type OpenDevice, OpenedModel, requireRoom } from '../../rl/look/opened_model.ts'
import { checkLenses } from '../../rl/train/begin_lenses.ts'
import { beginVectors } from '../../rl/train/begin_vectors.ts'
import { benchmarkConfig, runBenchmark } from '../../rl/train/benchmark.ts'
import { largestTensor, steeredEngine } from '../../rl/train/engine.ts'
import { planMemory } from '../../rl/train/parts/memory.ts'
import { planTeacher } from '../../rl/train/parts/teacher_memory.ts'
import { touchModels } from '../../rl/train/touched/touch.ts'
import { runProducts, tuneBeside } from '../../rl/train/tuning.ts'
import { planUses } from '../../rl/train/uses/planned_uses.ts'
import { installProgramRunner } from '../../tasks/task/program.ts'
import { decodeCheckpoint, encodeCheckpoint } from '../checkpoints/file/checkpoint_file.ts'
import { openCheckpointFiles } from '../checkpoints/storage/opfs.ts'
import { openModelDisk } from '../content/models/opfs_disk.ts'
import { isModelCommand } from '../protocol/opened_model.ts'
import { type LabCommand, type LabEvent, PROTOCOL_VERSION } from '../protocol/protocol.ts'
import { ProgramCalls } from '../sandbox/program_calls.ts'
import {
  memoryBudget,
  type PlanBytes,
  plannedBytes,
  plannedMemory,
  requireMemory,
  savingWords,
} from './base/memory_budget.ts'
import { systemClock } from './base/session_host.ts'
import { SteeredRun } from './base/steered_run.ts'
import { plannedModel } from './opened/model_plan.ts'
import { ModelReader } from './opened/model_reader.ts'
import { wholeFiles } from './opened/model_sources.ts'
import { diskOfStart, ownFiles } from './opened/shipped_start.ts'
import { checkedStart, loadStart, startVectors } from './opened/start_weights.ts'
import { TextTrial } from './opened/text_trial.ts'
import { type RunDevice, Session } from './session.ts'
import { Devices } from './shared/devices.ts'

const post = (event: LabEvent): void => postMessage(event)

/** The experiment whose steps the benchmark times. */
const BENCHMARK_PRESET = 'tiny'

const VARIANTS: ReadonlySet<string> = new Set(MATMUL_VARIANTS.map(({ name }) => name))

const devices = new Devices((options) => Gpu.open(options))

/** Work on a device of its own, which is gone afterwards. */
async function alone<T>(work: (gpu: Gpu) => Promise<T>): Promise<T> {
  const gpu = await Gpu.open()
  try {
    return await work(gpu)
  } finally {
    gpu.destroy()
  }
}

/** Milliseconds that a dispatch may take after the GPU was lost twice: half of what is usual. */
const CAREFUL_MS = 25

const planBytes: PlanBytes = (config) => planMemory(config).total()
/** Chromium tells it, in a worker too. */
const { deviceMemory } = navigator as { readonly deviceMemory?: number }
const ALLOWED_BYTES = memoryBudget(deviceMemory)

/** The folder of the page: a built worker lies in its assets/. */
const HOST = new URL(import.meta.env.DEV ? '/' : '../', location.href)

async function prepare(
  experiment: Experiment,
  isCareful = false,
  allowBytes = 0,
  isShared = false,
): Promise<RunDevice> {
  const config = trainerConfig(experiment)
  const mostBytes = Math.max(ALLOWED_BYTES, allowBytes)
  const products = runProducts(config)
  const { experiments } = followExperiment(experiment)
  const lent = await devices.lend(largestTensor(experiments.map(trainerConfig)), isShared)
  const { gpu } = lent
  let run: SteeredRun | undefined
  try {
    // A single buffer that the adapter does not allow is refused as such: nobody can allow it.
    if (largestTensor([config]).bytes <= gpu.facts.max_binding_bytes)
      requireMemory(experiment, mostBytes, planBytes)
  } catch (error) {
    await lent.end(true)
    throw error
  }
  const isLimited = isCareful && !gpu.facts.is_software
  if (isLimited) gpu.limitDispatches({ mostMs: CAREFUL_MS })
  return {
    adapter: gpu.facts,
    lost: gpu.lost,
    defaults: Object.fromEntries(
      products.map((product) => [
        shapeClass(product.op, product),
        defaultVariant(product.op, product).name,
      ]),
    ),
    suited: gpuChoice(products, gpu.facts),
    variants: VARIANTS,
    missing: (variant) => missingFeatures(variant, gpu.facts.features),
    measure: (settled) =>
      tuneBeside(gpu, products, settled, { largest: planMemory(config).largest }),
    start: async (matmul, onProgress, state) => {
      const engine = steeredEngine(gpu, matmul, onProgress, mostBytes)
      if (state) run = await SteeredRun.resume(engine, state)
      else {
        const begun = await SteeredRun.begin(engine, experiment)
        const model = (folder: RangedFolder) => openFiles(folder, undefined)
        const readers = { model, adapter: readAdapter }
        const disk = (source: string) =>
          diskOfStart(source, openModelDisk, ownFiles(HOST), onProgress)
        await loadStart(experiment, disk, readers, begun.trainer)
        await startVectors(experiment, (file) => beginVectors(begun.trainer, file))
        await checkedStart(() => checkLenses(begun.trainer))
        run = begun
      }
      return {
        trainer: run,
        counts: gpu.counts,
        memory: () => gpu.memory(),
        planned_bytes: plannedBytes(experiment, planBytes),
        profile: (work) => gpu.profile(work),
      }
    },
    free: async (endedWell, broke) => {
      // A limit lasts as long as what was made with it. The others on a shared device have no part
      // in what broke a run.
      const isSound = isShared ? endedWell || broke === true : endedWell && !isLimited
      if (isSound) await run?.exported
      await lent.end(isSound)
    },
  }
}

let files: ReturnType<typeof openCheckpointFiles> | undefined
let peak: Promise<Peak | undefined> | undefined
let speed: Promise<AdapterSpeed> | undefined

const session = new Session({
  open: () => devices.facts(),
  prepare,
  plan: (experiment) => {
    const bytes = plannedBytes(experiment, planBytes)
    const teacher = planTeacher(trainerConfig(experiment))
    const plan = {
      bytes,
      allowed_bytes: ALLOWED_BYTES,
      memory: plannedMemory(experiment, planMemory),
      ...(teacher > 0 && { teacher_bytes: teacher }),
    }
    if (bytes <= ALLOWED_BYTES) return plan
    return { ...plan, savings: savingWords(experiment, ALLOWED_BYTES, planBytes) }
  },
  version: `Understory ${understoryVersion}, ${browserName(navigator.userAgent)}`,
  peak: () => {
    peak ??= alone(probePeak).catch(() => undefined)
    return peak
  },
  speed: () => {
    speed ??= alone(probeSpeed)
    return speed
  },
  benchmark: (onProgress) => {
    const preset = presetOf(BENCHMARK_PRESET)
    if (!preset) throw new RangeError(`there is no preset ${BENCHMARK_PRESET}`)
    const config = benchmarkConfig(trainerConfig(preset.experiment))
    return alone((gpu) => runBenchmark(gpu, config, onProgress))
  },
  touch: (states, work, onProgress) => {
    const models = states.map((load) => async () => {
      const { experiment, ...state } = await load()
      return { ...state, config: trainerConfig(experiment) }
    })
    const open = (plan: MemoryPlan) => {
      requireRoom(plan.total(), ALLOWED_BYTES)
      return devices.lend(plan.largest)
    }
    return touchModels(open, work, models, onProgress, ALLOWED_BYTES)
  },
  checkpoints: {
    open: () => {
      files ??= openCheckpointFiles()
      return files
    },
    encode: encodeCheckpoint,
    decode: decodeCheckpoint,
    understory: understoryVersion,
  },
  post,
  ...systemClock,
})

/** The run whose settings a training of an opened model is planned with. */
const PLANNED_PRESET = 'tiny-grpo'

const trial = new TextTrial(
  () => new Worker(new URL('./opened/text_worker.ts', import.meta.url), { type: 'module' }),
)

const reader = new ModelReader({
  check: (folder, adapter) =>
    openFiles(folder, adapter.length > 0 ? wholeFiles(adapter) : undefined),
  open: async (model, held, options) => {
    const open: OpenDevice = async ({ largest, bytes }) => {
      requireRoom(bytes, ALLOWED_BYTES - held)
      return Gpu.open({ largest })
    }
    return OpenedModel.open(model, open, { ...options, writesSoon: true })
  },
  plan: async (config) => {
    const preset = presetOf(PLANNED_PRESET)
    if (!preset) throw new RangeError(`there is no preset ${PLANNED_PRESET}`)
    const uses = (facts: Parameters<typeof planUses>[0]) =>
      planUses(facts, trainerConfig(preset.experiment))
    return plannedModel(config, uses, ALLOWED_BYTES, await mostBinding())
  },
  readAdapter,
  disk: openModelDisk,
  post,
  tryText: (patterns, text) => trial.try(patterns, text),
  now: () => performance.now(),
})

const programs = new ProgramCalls(post)
installProgramRunner((program, entry, calls) => programs.ask(program, entry, calls))

addEventListener('message', ({ data }: MessageEvent<LabCommand>) => {
  if (data.type === 'program_answers') programs.hear(data)
  else if (isModelCommand(data)) reader.handle(data)
  else session.handle(data)
})

const ALIVE_MS = 2000
setInterval(() => post({ type: 'alive' }), ALIVE_MS)
post({ type: 'hello', protocol: PROTOCOL_VERSION })
