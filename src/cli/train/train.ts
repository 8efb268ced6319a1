// lab train: runs the page's trainer on Dawn, and writes a folder instead of drawing.
import { randomUUID } from 'node:crypto'
import { version as understoryVersion } from '../../../package.json'
import { followExperiment } from '../../document/experiment/experiment.ts'
import type { PhaseDocument } from '../../document/experiment/fields/phases.ts'
import { readKernels, unusablePin } from '../../document/experiment/fields/pinned_kernels.ts'
import { taskOf } from '../../document/experiment/fields/task_fields.ts'
import { remarksOf } from '../../document/experiment/form/remarks.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { trainerConfig } from '../../document/experiment/trainer_config.ts'
import type { MadeOn } from '../../host/checkpoints/file/checkpoint.ts'
import {
  NO_OBSERVATION,
  OBSERVED_GROUPS,
  type ObservationRequest,
  type ObservedGroup,
} from '../../host/protocol/observation.ts'
import { SteeredRun } from '../../host/worker/base/steered_run.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { type MatmulChoice, missingFeatures } from '../../kernels/matmul/matmul_variants.ts'
import { lowerRates } from '../../record/diagnosis/lower_rate.ts'
import type { TrainerConfig } from '../../rl/config/trainer_config.ts'
import { largestTensor, steeredEngine } from '../../rl/train/engine.ts'
import { type Command, LabFailure, NO_ADAPTER_TEXT } from '../base/command.ts'
import { openDawn } from '../base/dawn.ts'
import { print, tell } from '../base/terminal.ts'
import { loadNamedFiles } from '../input/data_set.ts'
import { readGivenAdapter } from '../input/given_adapter.ts'
import { type GivenModel, readGivenModel } from '../input/given_model.ts'
import { startFolder, withoutStart } from '../input/model_start.ts'
import { folderFiles } from '../output/checkpoint_files.ts'
import { refuseOut } from '../output/out_folder.ts'
import { RunFolder } from '../output/run_folder.ts'
import { lockFolder } from '../output/run_lock.ts'
import { runPrograms } from '../sandbox/programs.ts'
import { afterWarmStart, refuseQuestions, withModel } from './begun_experiment.ts'
import { drive } from './drive.ts'
import { describeRun } from './dry_run.ts'
import { startBeside } from './given_beside.ts'
import { readGivenTeacher } from './given_teacher.ts'
import { refuseMemory } from './refuse_memory.ts'
import {
  findCheckpoint,
  goesOnIn,
  isOfRun,
  isOver,
  type Resumed,
  readCheckpointModel,
} from './resume.ts'
import { completeFolder, openFolder, watchUntil } from './resumed_run.ts'
import { triedReward } from './reward_trial.ts'
import { RunWatch } from './run_watch.ts'
import { settledKernels, tune, unpinned } from './train_kernels.ts'
import { type NewRun, type Options, readOptions, TRAIN_LINE } from './train_options.ts'
import type { Origin } from './training_run.ts'
import { loadWeights, refuseSave } from './weights.ts'

export const train: Command = {
  line: TRAIN_LINE,
  run: async (args) => {
    const options = await readOptions(args)
    const endPrograms = runPrograms()
    try {
      return await trainAsked(options)
    } finally {
      endPrograms()
    }
  },
}

async function trainAsked(options: Options): Promise<number> {
  const { run } = options
  if ('resume' in run) return resumeRun(run.resume, run.isSlower, options)
  const { out, force, save } = options
  const replaced = out === undefined ? [] : refuseOut(out, force)
  if (save !== undefined) refuseSave(save)
  return locked(options.isDry ? undefined : out, () => beginRun(run, options, replaced))
}

const filesBeside = ({ rewards, tools, bundled }: Options) => [
  ...rewards.map(({ file }) => file),
  ...tools,
  ...bundled,
]

/** Does something while this process alone writes a folder. */
async function locked<T>(folder: string | undefined, work: () => Promise<T>): Promise<T> {
  const lock = folder === undefined ? undefined : lockFolder(folder, tell)
  try {
    return await work()
  } finally {
    lock?.release()
  }
}

/** Held-out texts under the lens of a recorded run. */
const LENS_TEXTS = 2
/** Steps between two observations of a run without validation. */
const OBSERVE_EVERY = 10

/** All there is to see at every validation; divergences are measured from the first inner layer
 * that is trained. */
function recordedRequest(
  { phases, validation, model: { num_hidden_layers: L } }: TrainerConfig,
  besides: Pick<ObservationRequest, 'parts' | 'readings'>,
): ObservationRequest {
  const inner = phases.flatMap((phase) =>
    'target_layer' in phase && phase.target_layer < L ? [phase.target_layer] : [],
  )
  return {
    ...NO_OBSERVATION,
    groups: Object.keys(OBSERVED_GROUPS) as ObservedGroup[],
    layer: inner[0] ?? L,
    lens: { held_out: LENS_TEXTS, samples: [] },
    every: validation.test_freq ?? OBSERVE_EVERY,
    ...besides,
  }
}

async function openGpu(experiments: readonly Experiment[]): Promise<Gpu> {
  const dawn = await openDawn()
  if (!dawn) throw new LabFailure(NO_ADAPTER_TEXT)
  return Gpu.open({ gpu: dawn, largest: largestTensor(experiments.map(trainerConfig)) })
}

/** Where the checkpoints of a folder go, and when. */
const checkpointsOf = (
  folder: RunFolder | undefined,
  record: string,
  schedule: Options['schedule'],
) => folder && schedule && { files: folderFiles(folder.folder, record), schedule }

async function beginRun(
  begun: NewRun,
  options: Options,
  replaced: readonly string[],
): Promise<number> {
  const { warm_start } = begun
  // Files decide the vocabulary that the model must have.
  const named = begun.model === undefined ? begun.experiment : withoutStart(begun.experiment)
  const folderOfModel = begun.model ?? (await startFolder(named))
  await loadNamedFiles(named, options.data, tell, filesBeside(options))
  const trial = await triedReward(named)
  const given = folderOfModel === undefined ? undefined : await readStart(folderOfModel, named)
  const begunWith = given ? withModel(named, given) : named
  const teacher = await readGivenTeacher(begunWith, begun.teacher, (one) =>
    refuseMemory(one, options.allow_bytes),
  )
  const sized = teacher?.experiment ?? begunWith
  const adapter =
    begun.adapter === undefined ? undefined : await readGivenAdapter(begun.adapter, sized)
  const experiment = adapter?.experiment ?? sized
  const { out, save, schedule } = options
  refuseQuestions(experiment)
  const pinned = settledKernels(begun)
  if (options.observe && out === undefined)
    throw new LabFailure('--observe: add --out DIR, the folder to write to')
  if (save !== undefined && !experiment.phases.some(({ kind }) => kind === 'sft'))
    throw new LabFailure('--save: this experiment has no sft phase')
  const warm = warm_start === undefined ? undefined : loadWeights(warm_start, experiment)
  const trained = warm ? afterWarmStart(experiment) : experiment
  const weights = warm ?? given?.weights
  refuseMemory(trained, options.allow_bytes)
  const remarks = [...remarksOf(trained).map((own) => own.message), ...trial]
  if (options.isDry) return describeRun(trained, options, remarks)
  const untuned = trainerConfig(trained)
  const gpu = await openGpu(followExperiment(trained).experiments)
  const title = `${experiment.name ?? 'unnamed'}, seed ${experiment.seed}, on ${gpu.facts.description}`
  for (const message of [title, ...remarks]) tell(message)
  const unusable = unusablePin(pinned ?? {}, (name) => missingFeatures(name, gpu.facts.features))
  if (unusable !== undefined && !begun.matmul) {
    gpu.destroy()
    throw new LabFailure(unusable)
  }
  const matmul = begun.tune
    ? await tune(gpu, untuned, pinned ?? {})
    : (pinned ?? unpinned(gpu, untuned))
  const run = await SteeredRun.begin(steeredEngine(gpu, matmul), trained)
  if (weights) run.trainer.importWeights(weights)
  await startBeside(experiment, run.trainer, adapter?.factors)
  if (teacher) run.trainer.importTeacher(teacher.weights)
  const observe = options.observe ? recordedRequest(untuned, options.observesBesides) : undefined
  const folder =
    out === undefined ? undefined : RunFolder.create(out, experiment, { replaced, tell })
  const origin: Origin = {
    record: randomUUID(),
    ...(warm_start === undefined ? {} : { warm_start }),
    ...(begun.model === undefined ? {} : { model: begun.model }),
    ...(Object.keys(matmul).length === 0 ? {} : { matmul }),
  }
  const checkpoints = checkpointsOf(folder, origin.record, schedule)
  const watch = new RunWatch(experiment, experiment.phases.length - trained.phases.length)
  return drive(
    { gpu, run, observe, folder, checkpoints, watch, origin, trial },
    experiment,
    options,
  )
}

/** The model that a run begins with: a Hugging Face folder, or that of another run. */
async function readStart(path: string, experiment: Experiment): Promise<GivenModel> {
  if (!isOfRun(path)) return readGivenModel(path, taskOf(experiment.task).tokenizer)
  const { sizes, weights } = await readCheckpointModel(path, experiment, '--model')
  const { source: _, source_name: __, dtype: ___, ...model } = sizes
  return { model: { ...model, padding_idx: experiment.model.padding_idx }, weights }
}

async function resumeRun(source: string, isSlower: boolean, options: Options): Promise<number> {
  const { out, force, save } = options
  if (save !== undefined) refuseSave(save)
  // Nothing of a folder is looked at before it is this process's own: a run that lives there
  // changes it.
  if (goesOnIn(source, out))
    return locked(source, async () =>
      goOn(source, await findCheckpoint(source, out), isSlower, options),
    )
  const found = await findCheckpoint(source, out)
  const replaced = refuseOut(found.out, force)
  return locked(found.out, () => goOn(source, found, isSlower, options, replaced))
}

async function goOn(
  source: string,
  found: Resumed,
  isSlower: boolean,
  options: Options,
  replaced: readonly string[] = [],
): Promise<number> {
  const { checkpoint, file, out, isSameRun, facts } = found
  const { run: state, made_on } = checkpoint
  const { step, phase } = state.trainer
  if (isOver(state)) {
    if (isSameRun) await completeFolder(found)
    print(`${source}: this run has finished after step ${step}; nothing is left to do`)
    return 0
  }
  refuseQuestions(state.experiment, phase + 1)
  await loadNamedFiles(state.document, options.data, tell, filesBeside(options))
  const trial = await triedReward(state.document)
  if (options.save !== undefined && !state.experiment.phases.slice(phase).some(isSft))
    throw new LabFailure(`--save: the warm start was over before step ${step}`)
  refuseMemory(state.document, options.allow_bytes)
  const gpu = await openGpu([state.experiment, ...followExperiment(state.document).experiments])
  const { name, seed } = state.experiment
  tell(`${name ?? 'unnamed'}, seed ${seed}, on ${gpu.facts.description}`)
  const matmul = kernelsOf(made_on, gpu)
  const run = await SteeredRun.resume(steeredEngine(gpu, matmul), state)
  if (isSlower) for (const { action } of lowerRates(state.experiment, phase)) run.steer(action)
  if (run.isWaiting) {
    gpu.destroy()
    throw new LabFailure(
      `${file}: this run waits for a person's verdicts; open the checkpoint in the page`,
    )
  }
  const config = trainerConfig({ ...state.document, steering: [] })
  const observe =
    options.observe || (isSameRun && RunFolder.isObserved(out))
      ? recordedRequest(config, options.observesBesides)
      : undefined
  const folder = await openFolder(found, { replaced, tell })
  const { record, parent } = checkpoint
  const resumed = { step, understory: understoryVersion, adapter: gpu.facts.description }
  const origin: Origin = {
    ...(isSameRun
      ? { record, ...(parent && { parent }), resumed: [...(facts.resumed ?? []), resumed] }
      : { record: randomUUID(), parent: { record, step } }),
    ...(facts.warm_start !== undefined && { warm_start: facts.warm_start }),
    ...(facts.model !== undefined && { model: facts.model }),
    ...(Object.keys(matmul).length > 0 && { matmul }),
  }
  const checkpoints = checkpointsOf(folder, origin.record, options.schedule)
  const watch = watchUntil(found)
  const why = isSameRun ? 'resume' : 'branch'
  const earlier = { opened: { checkpoint, why, parent: origin.parent }, facts } as const
  for (const message of trial) tell(message)
  tell(`Continuing after step ${step} (${file})`)
  const parts = { gpu, run, observe, folder, checkpoints, watch, origin, earlier, trial }
  return drive(parts, state.document, { ...options, out })
}

const isSft = ({ kind }: PhaseDocument): boolean => kind === 'sft'

/** The kernels of a checkpoint; the default ones where this adapter has not got them. */
function kernelsOf({ kernels }: MadeOn, { facts }: Gpu): MatmulChoice {
  const read = readKernels(kernels)
  const choice = (read.ok && read.choice) || {}
  return unusablePin(choice, (name) => missingFeatures(name, facts.features)) === undefined
    ? choice
    : {}
}
