// Finds the layers that tell a property of the problem: a linear probe for each layer, fitted on
// the states of some held-out problems and asked about the others, beside one whose labels were
// shuffled.

import type { Allocator } from '../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'
import type { ParamLayout } from '../../../model/layout/params.ts'
import { createModel, uploadModel } from '../../../model/transformer/model.ts'
import { propertyOf } from '../../../tasks/properties.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { heldOutTexts, type LensText } from '../../look/lens_texts.ts'
import { classify, fitClassifier } from '../../math/classifier.ts'
import { type Estimate, estimateOf, pairedDifference } from '../../math/estimate.ts'
import { shuffledOrder } from '../../math/shuffle.ts'
import { HeldOut } from './answers/held_out.ts'
import { answersOf, promptsOf } from './answers/problem_texts.ts'
import { planStates, type Spot, stateReader } from './state_reader.ts'

/** What is looked for. */
export interface ProbeWork {
  readonly property: string
  /** Held-out problems at most; half of them are fitted on. */
  readonly problems: number
  /** Decides which half, and how the labels of the control are shuffled. */
  readonly seed: number
  /** Penalty: 1 is scikit-learn's C = 1. */
  readonly l2: number
}

/** Accuracies over the problems that no probe was fitted on; of a problem with several tokens its
 * share of them counts. */
export interface LayerProbe {
  readonly accuracy: Estimate
  /** Of a probe that was fitted on the same states with shuffled labels. */
  readonly control: Estimate
  /** Accuracy less the control's, paired by problem. */
  readonly gain: Estimate
  /** On the problems that it was fitted on. */
  readonly fitted: number
}

/** What the probes of one state found. */
export interface ProbedState {
  readonly step: number
  /** By layer, 0 to L; none where there is nothing to tell apart. */
  readonly layers: readonly LayerProbe[]
  /** Why there is none. */
  readonly why_not?: string
  /** Accuracy of always saying what is commonest among the problems fitted on. */
  readonly commonest: number
}

export interface Probes {
  readonly property: string
  readonly label: string
  /** `tokens`: of the held-out problems’ answers, where each token was asked about. */
  readonly problems: {
    readonly fitted: number
    readonly held_out: number
    readonly tokens?: number
  }
  readonly states: readonly ProbedState[]
}

const HALVES = 0x68616c66
const CONTROL = 0x636f6e74
/** Problems with a value, of those fitted on, for the value to count. */
const LEAST = 5
const LEAST_PROBLEMS = 20

/** A state that is read, and what the property is there. */
interface Example extends Spot {
  readonly label: string
}

/** The texts that are read, and what is known of them before a model is asked; `examples` undefined
 * where only its answers say it. */
interface Asked {
  readonly label: string
  readonly texts: readonly LensText[]
  readonly examples: readonly Example[] | undefined
  readonly isFitted: readonly boolean[]
}

/** Throws RangeError for what cannot be probed, before anything is read. */
function asked(config: TrainerConfig, { property, problems, seed }: ProbeWork): Asked {
  const { task } = config
  const { label, of } = propertyOf(task.id, property)
  const count = Math.min(problems, task.test_size)
  if (count < LEAST_PROBLEMS)
    throw new RangeError(
      `Expected at least ${LEAST_PROBLEMS} held-out problems to fit probes on half of them, got ${count}${count < problems ? ': the task has no more' : ''}.`,
    )
  const order = shuffledOrder(count, [seed, HALVES], [0, 0])
  const isFitted = order.map((place) => place < count / 2)
  const texts = property === 'next_token' ? answersOf(config, count) : promptsOf(config, count)
  if (texts.length === 0)
    throw new RangeError(
      'Some right answers of the held-out problems are no text of the vocabulary, so their tokens cannot be probed.',
    )
  const problemsOf = () => heldOutTexts(task, config.seed, count).map(({ sample }) => sample)
  const examples =
    property === 'next_token'
      ? texts.flatMap(({ ids, prompt_length }, text) =>
          ids.slice(prompt_length).map((id, i): Example => {
            const name = task.tokenizer.tokens[id] ?? `<${id}>`
            return { text, token: prompt_length - 1 + i, label: name }
          }),
        )
      : of &&
        problemsOf().map(({ prompt, response }, text): Example => {
          const token = texts[text].prompt_length - 1
          return { text, token, label: of({ prompt, ground_truth: response }) }
        })
  const why_not = examples && missing(examples, isFitted)
  if (why_not) throw new RangeError(why_not)
  return { label, texts, examples, isFitted }
}

/** Why these examples cannot be told apart; undefined where they can. */
function missing(examples: readonly Example[], isFitted: readonly boolean[]): string | undefined {
  const all = new Set(examples.map(({ label }) => label))
  if (all.size < 2)
    return `All ${isFitted.length} problems have the same value, “${[...all][0]}”: there is nothing to tell apart. Take another property, another state or more problems.`
  const counted = countedOf(examples, isFitted)
  if (counted.length > 1) return undefined
  return `A probe needs at least ${LEAST} problems of each of two values among the ${isFitted.filter(Boolean).length} that it is fitted on; found ${counted.length === 0 ? 'no such value' : `only “${counted[0]}”`}. Take more problems, or another property.`
}

/** Values that enough of the problems have that are fitted on. */
function countedOf(examples: readonly Example[], isFitted: readonly boolean[]): string[] {
  const problems = new Map<string, Set<number>>()
  for (const { text, label } of examples)
    if (isFitted[text]) problems.set(label, (problems.get(label) ?? new Set()).add(text))
  return [...problems].flatMap(([label, of]) => (of.size >= LEAST ? [label] : [])).sort()
}

/** What probing takes, on a plan. Throws RangeError as `probed` does. */
export function planProbes(
  alloc: Allocator,
  config: TrainerConfig,
  layout: ParamLayout,
  work: ProbeWork,
): void {
  const { texts, examples } = asked(config, work)
  if (examples) createModel(alloc, layout)
  else
    HeldOut.room(
      alloc,
      { ...config, validation: { ...config.validation, prompts: texts.length } },
      layout,
    )
  planStates(alloc, layout.shape, texts)
}

/** Accuracies of the probes of one layer. `x` [examples, C]. */
function probeLayer(
  x: Float32Array,
  examples: readonly Example[],
  isFitted: readonly boolean[],
  { seed, l2 }: ProbeWork,
): LayerProbe {
  const cols = x.length / examples.length
  const names = countedOf(examples, isFitted)
  const classOf = new Map(names.map((name, k) => [name, k]))
  const chosen = (fitted: boolean) =>
    examples.flatMap(({ text, label }, i) =>
      isFitted[text] === fitted && (!fitted || classOf.has(label))
        ? [{ text, label: classOf.get(label) ?? -1, i }]
        : [],
    )
  const rowsAt = (of: ReturnType<typeof chosen>) => {
    const rows = new Float32Array(of.length * cols)
    for (const [at, { i }] of of.entries())
      rows.set(x.subarray(i * cols, (i + 1) * cols), at * cols)
    return rows
  }
  const [fit, rest] = [chosen(true), chosen(false)]
  const [fitX, restX] = [rowsAt(fit), rowsAt(rest)]
  const labels = fit.map(({ label }) => label)
  const fitted = fitClassifier({ cols, x: fitX, labels }, names.length, l2)
  const order = shuffledOrder(labels.length, [seed, CONTROL], [0, 0])
  const shuffled = order.map((place) => labels[place])
  const control = fitClassifier({ cols, x: fitX, labels: shuffled }, names.length, l2)
  const byProblem = (said: readonly number[], of: typeof fit) => {
    const hits = new Map<number, number[]>()
    for (const [at, { text, label }] of of.entries())
      hits.set(text, [...(hits.get(text) ?? []), Number(said[at] === label)])
    return [...hits.values()].map((own) => own.reduce((a, b) => a + b) / own.length)
  }
  const [right, chance] = [fitted, control].map((one) => byProblem(classify(one, restX), rest))
  return {
    accuracy: estimateOf(right),
    control: estimateOf(chance),
    gain: pairedDifference(chance, right),
    fitted: estimateOf(byProblem(classify(fitted, fitX), fit)).mean,
  }
}

/** Share of the other examples that have the commonest value of those fitted on. */
function commonestOf(examples: readonly Example[], isFitted: readonly boolean[]): number {
  const counts = new Map<string, number>()
  for (const { text, label } of examples)
    if (isFitted[text]) counts.set(label, (counts.get(label) ?? 0) + 1)
  const [top] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a))
  const rest = examples.filter(({ text }) => !isFitted[text])
  return rest.filter(({ label }) => label === top).length / rest.length
}

/** One model of a run. */
interface Moment {
  readonly step: number
  readonly weights: Float32Array
}

/** Probes the models in turn; all have one layout. `onDone` is called after each. Throws RangeError
 * for an unknown property, too few problems, and a property that none of the models' problems tells
 * apart. */
export async function probed(
  gpu: Gpu,
  { config: given, layout }: { readonly config: TrainerConfig; readonly layout: ParamLayout },
  models: readonly (() => Promise<Moment>)[],
  work: ProbeWork,
  onDone: () => void = () => {},
): Promise<Probes> {
  const { label, texts, examples: known, isFitted } = asked(given, work)
  const heldOut = known ? undefined : await HeldOut.create(gpu, given, layout, texts.length)
  const model = heldOut?.model ?? createModel(gpu, layout)
  const { pad_token_id } = given.task.tokenizer
  const read = await stateReader(gpu, model, texts, pad_token_id)
  const states: ProbedState[] = []
  for (const load of models) {
    const { step, weights } = await load()
    uploadModel(gpu, model, weights)
    const isRight = (await heldOut?.answers())?.is_right ?? []
    const examples =
      known ??
      texts.map(({ prompt_length }, text): Example => {
        return { text, token: prompt_length - 1, label: isRight[text] ? 'right' : 'wrong' }
      })
    const why_not = missing(examples, isFitted)
    const commonest = commonestOf(examples, isFitted)
    const found = why_not ? [] : await read(examples)
    const layers = found.map((x) => probeLayer(x, examples, isFitted, work))
    states.push({ step, layers, commonest, ...(why_not && { why_not }) })
    onDone()
  }
  const none = states.every(({ layers }) => layers.length === 0)
  if (none) throw new RangeError(states[0].why_not)
  const fitted = isFitted.filter(Boolean).length
  const tokens =
    work.property === 'next_token' && known?.filter(({ text }) => !isFitted[text]).length
  const problems = {
    fitted,
    held_out: isFitted.length - fitted,
    ...(tokens && { tokens }),
  }
  return { property: work.property, label, problems, states }
}
