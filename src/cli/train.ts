// lab train: the trainer that the page runs, on Dawn, writing a folder instead of drawing.
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import { version as understory_version } from '../../package.json'
import { Gpu } from '../kernels/gpu.ts'
import { tuneMatmul } from '../kernels/matmul/matmul_tune.ts'
import {
  defaultVariant,
  type MatmulChoice,
  missingFeatures,
  shapeClass,
} from '../kernels/matmul/matmul_variants.ts'
import { type Experiment, followExperiment, steeringWords } from '../lab/experiment.ts'
import {
  NO_OBSERVATION,
  OBSERVED_GROUPS,
  type Observation,
  type ObservationRequest,
  type ObservedGroup,
} from '../lab/observation.ts'
import { pinnedKernels, unusablePin } from '../lab/pinned_kernels.ts'
import { SteeredRun } from '../lab/steered_run.ts'
import { trainerConfig } from '../lab/trainer_config.ts'
import { largestTensor, steeredEngine } from '../rl/engine.ts'
import type { PhaseReason } from '../rl/phase.ts'
import type { Trainer, TrainerConfig } from '../rl/trainer.ts'
import { runProducts } from '../rl/tuning.ts'
import { type Command, LabFailure, NO_ADAPTER_TEXT, UsageError } from './command.ts'
import { openDawn } from './dawn.ts'
import { readExperiment } from './experiment_source.ts'
import { readMatmulChoice } from './matmul_choice.ts'
import { createProgress } from './progress.ts'
import { type RunFacts, RunFolder } from './run_folder.ts'
import { findingLines, RunWatch } from './run_watch.ts'
import { loadWeights, saveWeights } from './weights.ts'

/** Software adapters compile slowly: this is enough for the largest few products of a small run. */
const TUNE_BUDGET_MS = 2000

const webgpu_version: string = createRequire(import.meta.url)('webgpu/package.json').version

interface Options {
  readonly experiment: Experiment
  readonly out: string | undefined
  /** Folder that gets the weights as they are after the last sft phase. */
  readonly save: string | undefined
  /** Folder of such weights; the sft phases at the beginning are left out, and steps and prompts count from 0. */
  readonly warm_start: string | undefined
  /** Kernels of matrix products that are settled, in place of what the experiment pins. */
  readonly matmul: MatmulChoice | undefined
  /** Whether the kernels of the other products are measured before training. */
  readonly tune: boolean
  /** Whether the inside is written down too. */
  readonly observe: boolean
}

export const train: Command = {
  usage:
    '<experiment.json | share link | preset id> [--out DIR] [--seed N] [--save DIR] [--warm-start DIR] [--tune] [--matmul FILE] [--observe]',
  summary:
    'trains; --save keeps the weights after supervised warm-up, --warm-start begins from them; ' +
    '--tune measures first which kernels are fastest here, --matmul takes them from a run.json or a {shape class: variant}, ' +
    'in place of those that the experiment pins; --observe writes what the inside looks like at every validation, with --out',
  run: (args) => trainExperiment(readOptions(args)),
}

function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parse(args)
  if (positionals.length !== 1) throw new UsageError('train takes one experiment')
  if (values.seed !== undefined && !/^\d+$/.test(values.seed))
    throw new UsageError(`--seed: expected a whole number, got '${values.seed}'`)
  return {
    experiment: readExperiment(positionals[0], values.seed ? Number(values.seed) : undefined),
    out: values.out,
    save: values.save,
    warm_start: values['warm-start'],
    matmul: values.matmul === undefined ? undefined : readMatmulChoice(values.matmul),
    tune: values.tune,
    observe: values.observe,
  }
}

function parse(args: readonly string[]) {
  const option = { type: 'string' } as const
  const options = {
    out: option,
    seed: option,
    save: option,
    'warm-start': option,
    matmul: option,
    tune: { type: 'boolean', default: false },
    observe: { type: 'boolean', default: false },
  } as const
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : `${error}`)
  }
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

/** Measures the products of a run that `pinned` leaves open. Says on stderr what it does and what came of it. */
async function tune(gpu: Gpu, config: TrainerConfig, pinned: MatmulChoice): Promise<MatmulChoice> {
  if (Object.hasOwn(pinned, '*')) {
    console.error("--tune: '*' settles every product, nothing is measured")
    return pinned
  }
  const open = runProducts(config).filter((p) => !Object.hasOwn(pinned, shapeClass(p.op, p)))
  console.error(`Measuring ${open.length} matrix products for ${TUNE_BUDGET_MS / 1000} s …`)
  const start = performance.now()
  const { choice, timings } = await tuneMatmul(gpu, open, { budget_ms: TUNE_BUDGET_MS, pinned })
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  // The first timing of a class is the default's.
  const defaults = new Map([...timings].reverse().map((t) => [t.shape_class, t.variant]))
  const faster = [...defaults].filter(([shape_class, name]) => choice[shape_class] !== name)
  console.error(
    `${defaults.size} of ${open.length} measured in ${seconds} s, ${faster.length} of them faster on other kernels`,
  )
  // What was not measured is written down too, so that the record does not depend on today's default rule.
  const settled = open.map((p) => [shapeClass(p.op, p), defaultVariant(p.op, p).name] as const)
  return { ...Object.fromEntries(settled), ...choice }
}

/** Refuses an experiment that would wait for a person for ever, as far as can be said before it runs. */
function refuseQuestions(experiment: Experiment): void {
  const { phases } = followExperiment(experiment).experiments.at(-1) ?? experiment
  for (const [i, phase] of phases.entries())
    if (phase.kind === 'reward_model' && phase.pairs.source === 'human' && !phase.pairs.verdicts)
      throw new LabFailure(
        `phases.${i}.pairs.source: 'human' asks the person at the page, and here is none. ` +
          `Use 'judge', or an experiment with phases.${i}.pairs.verdicts: links copied from a finished run have them`,
      )
}

/** The kernels that are settled before anything is measured. Refuses to measure where the experiment has pinned all. */
function settledKernels({ experiment, matmul, tune }: Options): MatmulChoice {
  const pinned = matmul ? undefined : pinnedKernels(experiment)
  if (pinned && tune)
    throw new LabFailure(
      '--tune: this experiment pins its kernels, so there is nothing to measure. Leave --tune out, or empty the field kernels',
    )
  return matmul ?? pinned ?? {}
}

async function trainExperiment(options: Options): Promise<number> {
  const { experiment, out, save, warm_start } = options
  refuseQuestions(experiment)
  const pinned = settledKernels(options)
  if (options.observe && out === undefined)
    throw new LabFailure('--observe: say where to with --out DIR')
  if (save !== undefined && !experiment.phases.some(({ kind }) => kind === 'sft'))
    throw new LabFailure('--save: this experiment has no sft phase')
  const weights = warm_start === undefined ? undefined : loadWeights(warm_start, experiment)
  const trained = weights ? afterWarmStart(experiment) : experiment
  const untuned = trainerConfig(trained)
  const dawn = await openDawn()
  if (!dawn) throw new LabFailure(NO_ADAPTER_TEXT)
  const largest = largestTensor(followExperiment(trained).experiments.map(trainerConfig))
  const gpu = await Gpu.open({ gpu: dawn, largest })
  console.error(`${experiment.name}, seed ${experiment.seed}, on ${gpu.facts.description}`)
  const unusable = unusablePin(pinned, (name) => missingFeatures(name, gpu.facts.features))
  if (unusable !== undefined && !options.matmul) {
    gpu.destroy()
    throw new LabFailure(unusable)
  }
  const matmul = options.tune ? await tune(gpu, untuned, pinned) : pinned
  const steered = await SteeredRun.begin(steeredEngine(gpu, matmul), trained)
  if (weights) steered.trainer.importWeights(weights)
  if (options.observe) steered.observe(recordedRequest(untuned, untuned.model.num_hidden_layers))
  const folder = out === undefined ? undefined : new RunFolder(out, experiment)
  const watch = new RunWatch(experiment, experiment.phases.length - trained.phases.length)
  const run = new Run(gpu, steered, folder, watch, {
    ...(warm_start === undefined ? {} : { warm_start }),
    ...(Object.keys(matmul).length === 0 ? {} : { matmul }),
  })
  const onInterrupt = () => run.stop()
  process.once('SIGINT', onInterrupt).once('SIGTERM', onInterrupt)
  try {
    await run.train(async () => {
      if (save !== undefined)
        saveWeights(save, experiment, steered.trainer.step, await steered.trainer.exportWeights())
    })
  } finally {
    folder?.close()
    gpu.destroy()
  }
  console.log(run.summary())
  if (out !== undefined) console.log(`Wrote ${out}`)
  return run.status === 'finished' ? 0 : 130
}

/** What a run began with besides its experiment. */
type Origin = Pick<RunFacts, 'warm_start' | 'matmul'>

/** One run from its first step to its last, and the facts about it. */
class Run {
  status: RunFacts['status'] = 'running'
  readonly #gpu: Gpu
  readonly #run: SteeredRun<Trainer>
  readonly #folder: RunFolder | undefined
  readonly #watch: RunWatch
  readonly #origin: Origin
  readonly #phases: { step: number; phase: number; name: string; reason: PhaseReason }[] = []
  readonly #steering: RunFacts['steering'][number][] = []
  readonly #latest: Record<string, number> = {}
  readonly #start_ms = performance.now()
  #memory_peak_bytes = 0
  #observed_step: number | undefined
  #isStopping = false

  constructor(
    gpu: Gpu,
    run: SteeredRun<Trainer>,
    folder: RunFolder | undefined,
    watch: RunWatch,
    origin: Origin,
  ) {
    this.#gpu = gpu
    this.#run = run
    this.#folder = folder
    this.#watch = watch
    this.#origin = origin
  }

  /** Ends the run after the step in flight. */
  stop(): void {
    this.#isStopping = true
  }

  /** Steps until the end; `afterSft` is called once, when the last sft phase is over. */
  async train(afterSft: () => Promise<void>): Promise<void> {
    const run = this.#run
    const progress = createProgress()
    this.#writeFacts()
    try {
      while (!this.#isStopping) {
        await this.#obey()
        if (run.isFinished) break
        const { result } = await run.queue()
        const { step, phase, phase_step, metrics, samples, phase_started, observation } =
          await result
        this.#observed(step, observation)
        const { phases } = run.trainer
        const { kind, name, steps } = phases[phase]
        const total_steps = phases.reduce((sum, phase) => sum + phase.steps, 0)
        const last_sft = phases.findLastIndex((phase) => phase.kind === 'sft')
        // Step 0 is the model before training.
        if (phase_started)
          this.#phases.push({ step: Math.max(0, step - 1), name: name || kind, ...phase_started })
        Object.assign(this.#latest, metrics)
        this.#watch.step(step, phase, metrics, run.experiment)
        this.#folder?.metrics(step, metrics)
        this.#folder?.samples(step, samples)
        this.#memory_peak_bytes = Math.max(this.#memory_peak_bytes, this.#gpu.counts.live_bytes)
        const title = `phase ${phase + 1}/${phases.length} ${name || kind}`
        progress.show({ step, total_steps, phase: title, metrics })
        if (phase === last_sft && phase_step === steps) await afterSft()
      }
      if (this.#observed_step !== run.step) this.#observed(run.step, await run.observeNow())
      this.status = run.isFinished ? 'finished' : 'stopped'
    } catch (error) {
      this.status = 'failed'
      throw error
    } finally {
      progress.end()
      this.#writeFacts()
      this.#folder?.table(this.#watch.series)
    }
  }

  #observed(step: number, observation: Observation | undefined): void {
    if (!observation) return
    this.#observed_step = step
    this.#folder?.observation(step, observation)
  }

  /** Does what the document says of this moment, and says so. */
  async #obey(): Promise<void> {
    for (const { entry, refused } of await this.#run.obey()) {
      this.#steering.push({ ...entry, ...(refused !== undefined && { refused }) })
      const said = `after step ${entry.step}: ${steeringWords(entry)}`
      console.error(refused === undefined ? said : `${said} was left out: ${refused}`)
    }
  }

  /** The last known value of every validation metric, or of every metric when there is no validation; then what went wrong. */
  summary(): string {
    const all = Object.entries(this.#latest)
    const validation = all.filter(([name]) => name.startsWith('val'))
    const lines = (validation.length ? validation : all).map(
      ([name, value]) => `${name} ${Number(value.toPrecision(6))}`,
    )
    const findings = findingLines(this.#watch.found)
    const head = `${this.status} after step ${this.#run.trainer.step}`
    return [head, ...lines, ...findings].join('\n')
  }

  #writeFacts(): void {
    this.#folder?.facts({
      status: this.status,
      adapter: this.#gpu.facts,
      versions: { understory: understory_version, webgpu: webgpu_version, node: process.version },
      phases: this.#phases,
      steering: this.#steering,
      ...this.#origin,
      findings: this.#watch.found,
      steps: this.#run.trainer.step,
      memory_peak_bytes: this.#memory_peak_bytes,
      wall_time_s: (performance.now() - this.#start_ms) / 1000,
    })
  }
}
