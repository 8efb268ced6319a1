// lab train: the trainer that the page runs, on Dawn, writing a folder instead of drawing.
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { version as understory_version } from '../../package.json'
import { Gpu } from '../kernels/gpu.ts'
import { type MatmulChoice, missingFeatures } from '../kernels/matmul/matmul_variants.ts'
import type { Checkpoint, MadeOn } from '../lab/checkpoints/checkpoint.ts'
import { type Experiment, followExperiment, type PhaseDocument } from '../lab/experiment.ts'
import { BrokenNumbers, brokenHead } from '../lab/guard.ts'
import { lowerRates } from '../lab/lower_rate.ts'
import { MemoryRefusal, memoryBudget, requireMemory } from '../lab/memory_budget.ts'
import {
  NO_OBSERVATION,
  OBSERVED_GROUPS,
  type ObservationRequest,
  type ObservedGroup,
} from '../lab/observation.ts'
import { readKernels, unusablePin, writeKernels } from '../lab/pinned_kernels.ts'
import { remarksOf } from '../lab/remarks.ts'
import { SteeredRun } from '../lab/steered_run.ts'
import { thinnedOf, thinnedWords } from '../lab/thinning.ts'
import { trainerConfig } from '../lab/trainer_config.ts'
import { largestTensor, steeredEngine } from '../rl/engine.ts'
import { planMemory } from '../rl/memory.ts'
import type { Trainer, TrainerConfig } from '../rl/trainer.ts'
import { folderFiles } from './checkpoint_files.ts'
import { Checkpointer, type CheckpointOrigin } from './checkpointing.ts'
import { type Command, LabFailure, NO_ADAPTER_TEXT } from './command.ts'
import { openDawn } from './dawn.ts'
import { readExperiment } from './experiment_source.ts'
import {
  differences,
  findCheckpoint,
  isOver,
  metricsRows,
  phaseOf,
  type Resumed,
} from './resume.ts'
import { RunFolder } from './run_folder.ts'
import { RunWatch } from './run_watch.ts'
import { settledKernels, tune } from './train_kernels.ts'
import { type NewRun, type Options, readOptions } from './train_options.ts'
import { type Origin, TrainingRun, type TrainingRunParts } from './training_run.ts'
import { loadWeights, saveWeights } from './weights.ts'

export const train: Command = {
  usage:
    '<experiment.json | share link | preset id> [--out DIR] [--checkpoint-every N] [--seed N] [--save DIR] [--warm-start DIR] [--tune] [--matmul FILE] [--observe] [--allow-memory GB]\n' +
    '  train --resume <DIR | checkpoint.safetensors> [--slower] [--out DIR] [--checkpoint-every N] [--save DIR] [--observe] [--allow-memory GB]',
  summary:
    'trains; --out writes a folder, with checkpoints every 10 steps or 10 s, whichever is later (--checkpoint-every N: every N steps, 0: none); ' +
    '--resume goes on where a folder’s run was cut short, or from a checkpoint file as a run of its own in --out, --slower with half the learning rate; ' +
    '--save keeps the weights after supervised warm-up, --warm-start begins from them; ' +
    '--tune measures first which kernels are fastest here, --matmul takes them from a run.json or a {shape class: variant}, ' +
    'in place of those that the experiment pins; --observe writes what the inside looks like at every validation, with --out; ' +
    '--allow-memory lets a run take more GPU memory than 4 GB, or than half of the machine’s where that is less',
  run: (args) => {
    const options = readOptions(args)
    const { run } = options
    return 'resume' in run ? resumeRun(run.resume, run.is_slower, options) : beginRun(run, options)
  },
}

/** The experiment without the sft phases it begins with. */
function afterWarmStart(experiment: Experiment): Experiment {
  const first = experiment.phases.findIndex(({ kind }) => kind !== 'sft')
  if (first < 0) throw new LabFailure('--warm-start: this experiment has sft phases only')
  if (experiment.steering.length > 0)
    throw new LabFailure(
      '--warm-start: this experiment is steered, and its steps count from the first sft phase; take steering out of it',
    )
  return { ...experiment, phases: experiment.phases.slice(first) }
}

/** Held-out texts under the lens of a recorded run. */
const LENS_TEXTS = 2
/** Steps between two observations of a run without validation. */
const OBSERVE_EVERY = 10

/** All there is to see at every validation; divergences are measured from the first inner layer that is trained. */
function recordedRequest({ phases, validation }: TrainerConfig, L: number): ObservationRequest {
  const inner = phases.flatMap((phase) =>
    phase.kind === 'rl' && phase.target_layer < L ? [phase.target_layer] : [],
  )
  return {
    ...NO_OBSERVATION,
    groups: Object.keys(OBSERVED_GROUPS) as ObservedGroup[],
    layer: inner[0] ?? L,
    lens: { held_out: LENS_TEXTS, samples: [] },
    every: validation.test_freq > 0 ? validation.test_freq : OBSERVE_EVERY,
  }
}

/** Refuses an experiment that would wait for a person for ever, as far as can be said before phase `from` of it runs. */
function refuseQuestions(experiment: Experiment, from = 0): void {
  const { phases } = followExperiment(experiment).experiments.at(-1) ?? experiment
  for (const [i, phase] of phases.entries())
    if (i >= from && asksSomeone(phase))
      throw new LabFailure(
        `phases.${i}.pairs.source: 'human' asks the person at the page, and here is none. ` +
          `Use 'judge', or an experiment with phases.${i}.pairs.verdicts: links copied from a finished run have them`,
      )
}

const asksSomeone = (phase: PhaseDocument): boolean =>
  phase.kind === 'reward_model' && phase.pairs.source === 'human' && !phase.pairs.verdicts

/** Refuses what would take more memory than may be taken, before a device is opened. */
function refuseMemory(document: Experiment, allow_bytes: number | undefined): void {
  const allowed = allow_bytes ?? memoryBudget(totalmem() / 2 ** 30)
  try {
    requireMemory(document, allowed, (config) => planMemory(config).total())
  } catch (error) {
    if (!(error instanceof MemoryRefusal)) throw error
    const gigabytes = Math.ceil(error.bytes / 1e7) / 100
    throw new LabFailure(
      `${error.message}\nIf this machine has so much to spare: --allow-memory ${gigabytes}`,
    )
  }
}

async function openGpu(experiments: readonly Experiment[]): Promise<Gpu> {
  const dawn = await openDawn()
  if (!dawn) throw new LabFailure(NO_ADAPTER_TEXT)
  return Gpu.open({ gpu: dawn, largest: largestTensor(experiments.map(trainerConfig)) })
}

const madeOn = ({ facts }: Gpu, matmul: MatmulChoice): MadeOn => ({
  understory: understory_version,
  adapter: facts.description,
  kernels: Object.keys(matmul).length === 0 ? '' : writeKernels(matmul),
})

async function beginRun(begun: NewRun, options: Options): Promise<number> {
  const { experiment, warm_start } = begun
  const { out, save, schedule } = options
  refuseQuestions(experiment)
  const pinned = settledKernels(begun)
  if (options.observe && out === undefined)
    throw new LabFailure('--observe: say where to with --out DIR')
  if (save !== undefined && !experiment.phases.some(({ kind }) => kind === 'sft'))
    throw new LabFailure('--save: this experiment has no sft phase')
  const weights = warm_start === undefined ? undefined : loadWeights(warm_start, experiment)
  const trained = weights ? afterWarmStart(experiment) : experiment
  refuseMemory(trained, options.allow_bytes)
  const untuned = trainerConfig(trained)
  const gpu = await openGpu(followExperiment(trained).experiments)
  console.error(`${experiment.name}, seed ${experiment.seed}, on ${gpu.facts.description}`)
  for (const { message } of remarksOf(trained)) console.error(message)
  const unusable = unusablePin(pinned, (name) => missingFeatures(name, gpu.facts.features))
  if (unusable !== undefined && !begun.matmul) {
    gpu.destroy()
    throw new LabFailure(unusable)
  }
  const matmul = begun.tune ? await tune(gpu, untuned, pinned) : pinned
  const run = await SteeredRun.begin(steeredEngine(gpu, matmul), trained)
  if (weights) run.trainer.importWeights(weights)
  if (options.observe) run.observe(recordedRequest(untuned, untuned.model.num_hidden_layers))
  const folder = out === undefined ? undefined : RunFolder.create(out, experiment)
  const origin: Origin = {
    record: randomUUID(),
    ...(warm_start === undefined ? {} : { warm_start }),
    ...(Object.keys(matmul).length === 0 ? {} : { matmul }),
  }
  const made_on = madeOn(gpu, matmul)
  const checkpoints = folder && checkpointer(folder, { ...origin, made_on }, schedule)
  const watch = new RunWatch(experiment, experiment.phases.length - trained.phases.length)
  return drive({ gpu, run, folder, checkpoints, watch, origin }, experiment, options)
}

function checkpointer(
  folder: RunFolder,
  { record, parent, made_on }: CheckpointOrigin,
  schedule: Options['schedule'],
  from?: Checkpoint,
): Checkpointer | undefined {
  return (
    schedule &&
    new Checkpointer({
      files: folderFiles(folder.folder, record),
      origin: { record, ...(parent && { parent }), made_on },
      schedule,
      sync: () => folder.sync(),
      onProblem: (message) =>
        console.error(`A checkpoint was not written, and the run goes on: ${message}`),
      ...(from && { from: { history: from.history, step: from.run.trainer.step } }),
    })
  )
}

async function resumeRun(source: string, is_slower: boolean, options: Options): Promise<number> {
  const found = await findCheckpoint(source, options.out)
  const { checkpoint, file, out, is_same_run, facts } = found
  const { run: state, made_on } = checkpoint
  const { step, phase } = state.trainer
  if (isOver(state)) {
    console.log(`${source}: this run has finished after step ${step}; nothing is left to do`)
    return 0
  }
  refuseQuestions(state.experiment, phase + 1)
  if (options.save !== undefined && !state.experiment.phases.slice(phase).some(isSft))
    throw new LabFailure(`--save: the warm start was over before step ${step}`)
  refuseMemory(state.document, options.allow_bytes)
  const gpu = await openGpu([state.experiment, ...followExperiment(state.document).experiments])
  const { name, seed } = state.experiment
  console.error(`${name}, seed ${seed}, on ${gpu.facts.description}`)
  const matmul = kernelsOf(made_on, gpu)
  const here = madeOn(gpu, matmul)
  for (const said of differences(made_on, here)) console.error(said)
  const run = await SteeredRun.resume(steeredEngine(gpu, matmul), state)
  if (is_slower) for (const { action } of lowerRates(state.experiment, phase)) run.steer(action)
  if (run.isWaiting) {
    gpu.destroy()
    throw new LabFailure(
      `${file}: this run waits for a person's verdicts, and here is none; open the checkpoint in the page`,
    )
  }
  const observes = options.observe || (is_same_run && RunFolder.isObserved(out))
  if (observes) {
    const config = trainerConfig({ ...state.document, steering: [] })
    run.observe(recordedRequest(config, config.model.num_hidden_layers))
  }
  const folder = await openFolder(found)
  const { record, parent } = checkpoint
  const resumed = { step, understory: here.understory, adapter: here.adapter }
  const origin: Origin = {
    ...(is_same_run
      ? { record, ...(parent && { parent }), resumed: [...(facts.resumed ?? []), resumed] }
      : { record: randomUUID(), parent: { record, step } }),
    ...(facts.warm_start !== undefined && { warm_start: facts.warm_start }),
    ...(Object.keys(matmul).length > 0 && { matmul }),
  }
  const checkpoints = checkpointer(
    folder,
    { ...origin, made_on: here },
    options.schedule,
    checkpoint,
  )
  const watch = watchUntil(found)
  const earlier = { history: checkpoint.history, facts }
  console.error(`Going on after step ${step} (${file})`)
  const parts = { gpu, run, folder, checkpoints, watch, origin, earlier }
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

/** The folder that a run goes on in, cut back to the checkpoint, or a new one that begins with its metrics. */
async function openFolder({ checkpoint, out, is_same_run }: Resumed): Promise<RunFolder> {
  const { record, run, history } = checkpoint
  const { step } = run.trainer
  const { folder, last_step } = is_same_run
    ? RunFolder.reopen(out, step)
    : { folder: RunFolder.create(out, run.document), last_step: -1 }
  const missing = metricsRows(history).filter(([own]) => own > last_step)
  const lost = thinnedWords(thinnedOf(history.series.values()))
  if (is_same_run && missing.length > 0)
    console.error(
      `metrics.jsonl ends with step ${last_step}: the rest is taken from the checkpoint`,
    )
  if (missing.length > 0 && lost !== '') console.error(`metrics.jsonl: ${lost}`)
  for (const [own, metrics] of missing) folder.metrics(own, metrics)
  if (!is_same_run) return folder
  // They are of steps that are taken anew, or cannot be read.
  const files = folderFiles(out, record)
  const later = (await files.list()).filter((entry) => entry.step > step)
  await files.remove(
    record,
    later.map((entry) => entry.step),
  )
  return folder
}

/** What was found in the steps so far, by looking at them once more. */
function watchUntil({ checkpoint, out, facts }: Resumed): RunWatch {
  const { run, history } = checkpoint
  const whole = join(out, 'experiment.json')
  const has_left_out = facts.warm_start !== undefined && existsSync(whole)
  const experiment = has_left_out ? readExperiment(whole) : run.document
  const watch = new RunWatch(experiment, experiment.phases.length - run.document.phases.length)
  const { experiments } = followExperiment(run.document)
  for (const [step, metrics] of metricsRows(history)) {
    const done = history.steered.filter(
      ({ entry, refused }) => refused === undefined && entry.step < step,
    ).length
    const followed = experiments[done] ?? run.experiment
    watch.step(step, phaseOf(history, step), metrics, followed)
  }
  return watch
}

/** Trains to the end or to the first signal, and says what came of it. */
async function drive(
  parts: TrainingRunParts & { readonly run: SteeredRun<Trainer> },
  experiment: Experiment,
  { out, save }: Pick<Options, 'out' | 'save'>,
): Promise<number> {
  const { run: steered } = parts
  const run = new TrainingRun(parts)
  const onInterrupt = () => run.stop()
  process.once('SIGINT', onInterrupt).once('SIGTERM', onInterrupt)
  try {
    await run.train(async () => {
      if (save !== undefined)
        saveWeights(save, experiment, steered.step, await steered.trainer.exportWeights())
    })
  } catch (error) {
    throw error instanceof BrokenNumbers ? await brokenRun(error, out) : error
  } finally {
    parts.folder?.close()
    parts.gpu.destroy()
  }
  console.log(run.summary())
  if (out !== undefined) console.log(`Wrote ${out}`)
  return run.status === 'finished' ? 0 : 130
}

/** The end of a run whose numbers broke: the evidence, and what to do. */
async function brokenRun({ message, broken }: BrokenNumbers, out: string | undefined) {
  const kept = out === undefined ? [] : await folderFiles(out, '').list()
  const newest = kept.at(-1)
  const advice = newest
    ? `Go on from the last checkpoint, of step ${newest.step}, with half the learning rate: lab train --resume ${out} --slower\n` +
      'Should it break there again, go on in the same way from an earlier file of its checkpoints, with --out for another folder.'
    : 'There is no checkpoint to go on from: train again with a lower learning rate, and with --out to keep checkpoints.'
  return new LabFailure(`${brokenHead(broken)} The run was ended.\n${message}\n${advice}`)
}
