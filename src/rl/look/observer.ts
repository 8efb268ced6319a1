// Observes the policy while it trains, as far as it is asked to: measures on the GPU and reads
// means and lenses back. Reads the weights only, and borrows the probe's workspace between steps,
// so training has the same bits with it and without.
import type { Gpu } from '../../kernels/device/gpu.ts'
import { unpackInternalMoments } from '../../model/internals/internal_moments.ts'
import { uploadInternals } from '../../model/internals/internals_tensors.ts'
import { uploadLens } from '../../model/internals/lens.ts'
import type { TranslatedReadout } from '../../model/layout/readout.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { chosenRows, type RolloutBatch, spreadRows, tokenCount } from '../experience/batch.ts'
import { encodeSample, heldOutTexts, type LensText, readLens } from './lens_texts.ts'
import { MOMENTS_SHARE, Moments, PARTS_SHARE, type RunSoFar } from './moments.ts'
import {
  asksInside,
  asksMore,
  atMoment,
  isObserved,
  NO_OBSERVATION,
  nextObserved,
  type Observation,
  type ObservationRequest,
  type ObservedGroup,
  type ObservedRows,
  type ObservedValues,
} from './observation.ts'
import {
  createGroup,
  createLensPart,
  createTokenLayers,
  type GroupPart,
  type LensPart,
  type Made,
  make,
  type Observed,
  reasonOf,
  reserveReadings,
  type TokenLayersPart,
} from './observed_parts.ts'
import { endOfQueued, readingCosts, stageOf, startReading } from './reading_costs.ts'
import { readTokenLayers, type TracedLayers } from './token_layers.ts'

/** Observes what is asked for. The first observation that needs a buffer or a program makes it; a
 * request without it frees it. While a request stays the same, nothing is created. Where nothing is
 * asked, nothing is encoded, submitted or read back. */
export class Observer {
  #gpu: Gpu
  #config: Pick<TrainerConfig, 'seed' | 'task'>
  #observed: Observed
  #request: ObservationRequest = NO_OBSERVATION
  /** What was asked for when it observed last; nothing once nobody asked. */
  #shown: ObservationRequest = NO_OBSERVATION
  /** Tokens were asked for, and no step has brought them yet. */
  #awaitsTokens = false
  readonly #moments = new Moments()
  /** Of measurements of what each part does. */
  readonly #parts = new Moments()
  #isPrepared = false
  /** Dispatches before the run. */
  readonly #begun: number
  #besides = 0
  /** With the layer where a group measures from one. */
  #groups = new Map<ObservedGroup, Made<GroupPart> & { readonly layer: number }>()
  #lens: (Made<LensPart> & { readonly texts: number }) | undefined
  #tokens: (Made<TokenLayersPart> & { readonly rows: number }) | undefined

  constructor(gpu: Gpu, config: Pick<TrainerConfig, 'seed' | 'task'>, observed: Observed) {
    this.#gpu = gpu
    this.#config = config
    this.#observed = observed
    this.#begun = gpu.counts.dispatches
  }

  /** Sets what to observe from now on. Frees what is not needed any more. Not while `observe` is
   * being called. */
  ask(request: ObservationRequest): void {
    this.#awaitsTokens = request.tokens && (this.#awaitsTokens || !this.#request.tokens)
    this.#request = request
    if (!this.isAsked) this.#shown = NO_OBSERVATION
    const kept = atMoment(request)
    for (const [group, { layer, part }] of this.#groups) {
      if (kept.groups.includes(group) && layer === layerOf(group, kept)) continue
      part?.free()
      this.#groups.delete(group)
    }
    if (!asksInside({ ...kept, groups: [] })) this.#freeLens()
    if (!request.token_layers) this.#freeTokens()
  }

  /** Whether the request asks for the inside at any step. */
  get isAsked(): boolean {
    return asksInside(this.#request) || this.readings.length > 0
  }

  /** The lenses that it is asked to read every layer through. */
  get readings(): readonly TranslatedReadout[] {
    return this.#request.readings ?? []
  }

  /** Whether a step that is a moment may be looked at: moments have a share of the run's
   * dispatches, but for those of short phases. */
  takesMoment(soFar: Omit<RunSoFar, 'dispatches'>, isEnd: boolean, isShort: boolean): boolean {
    if (!this.#request.moments || isShort) return this.#request.moments === true
    const share = this.asksParts ? MOMENTS_SHARE - PARTS_SHARE : MOMENTS_SHARE
    const dispatches = this.#dispatches - this.#parts.spent
    return this.#moments.fits({ dispatches, ...soFar }, isEnd, { share })
  }

  /** Whether it is asked what each part does. */
  get asksParts(): boolean {
    return this.#request.parts === true
  }

  /** Whether that may be measured now, for so many dispatches. */
  takesParts(soFar: Omit<RunSoFar, 'dispatches'>, isEnd: boolean, known: number): boolean {
    const dispatches = this.#dispatches - this.#moments.spent
    return this.#parts.fits({ dispatches, ...soFar }, isEnd, { share: PARTS_SHARE, known })
  }

  /** It was measured. */
  tookParts(dispatches: number): void {
    this.#parts.take(dispatches, false)
  }

  /** Since the run began, without what was looked at outside the share. */
  get #dispatches(): number {
    return this.#gpu.counts.dispatches - this.#begun - this.#besides
  }

  /** So many dispatches were looking that the share leaves out: a person asked for it. */
  besides(dispatches: number): void {
    this.#besides += dispatches
  }

  /** A moment was looked at, for so many dispatches in all; `isShort`: of a short inner phase. */
  tookMoment(dispatches: number, isShort: boolean): void {
    this.#moments.take(dispatches, isShort)
  }

  /** Makes what moments need, their readbacks included, before the first step on this device: then
   * no step creates anything. */
  async prepare(): Promise<void> {
    if (this.#isPrepared || !this.#request.moments) return
    this.#isPrepared = true
    const request = atMoment(this.#request)
    const groups = await this.#prepareGroups(request, [])
    const lens = await this.#prepareLens(this.#texts(request, []).length, [])
    const read = groups.map(({ part }) => [part.tensors.moments])
    reserveReadings(this.#gpu, lens ? [...read, lens.tensors.outputs] : read)
  }

  /** Whether the inside is observed after this step: whoever opens a panel waits for no further
   * step. */
  isDue(step: number): boolean {
    return this.isAsked && (this.#isNew || isObserved(this.#request, step))
  }

  /** The first step after this one that is observed. */
  nextDue(step: number): number {
    return this.#isNew ? step + 1 : nextObserved(this.#request, step)
  }

  /** It is asked for something that no step has shown since. */
  get #isNew(): boolean {
    return asksMore(this.#request, this.#shown)
  }

  /** Whether this step brings its token table: the first one after that was asked for, so that a
   * person does not wait, and then as often as is observed. Once in a step. */
  takesTokens(step: number): boolean {
    const isFirst = this.#awaitsTokens
    this.#awaitsTokens = false
    return this.#request.tokens && (isFirst || isObserved(this.#request, step))
  }

  /** Observes the present weights on rows of `batch`: encodes and submits, and returns the promise
   * of the numbers. What cannot be observed is left out, with the reason in `refused`. `isMoment`:
   * all that a moment shows. */
  async observe(
    batch: RolloutBatch,
    rows: ObservedRows,
    isMoment = false,
  ): Promise<{ readonly reading: Promise<Observation> }> {
    this.#shown = this.#request
    return this.#observe(batch, rows, isMoment ? atMoment(this.#request) : this.#request)
  }

  async #observe(
    batch: RolloutBatch,
    rows: ObservedRows,
    request: ObservationRequest,
  ): Promise<{ readonly reading: Promise<Observation> }> {
    const gpu = this.#gpu
    const { model, probe, probe_mask } = this.#observed
    const refused: string[] = []
    const groups = await this.#prepareGroups(request, refused)
    const texts = this.#texts(request, refused)
    const lens = await this.#prepareLens(texts.length, refused)

    const probed = spreadRows(batch, probe.rows)
    const before = endOfQueued(gpu)
    gpu.write(probe_mask, probed.response_mask)
    for (const { part } of groups) uploadInternals(gpu, part.tensors.internals, probed)
    if (lens) uploadLens(gpu, lens.tensors, texts.map(idsOf))

    const groupReadings = groups.map(({ group, part }) => {
      gpu.stage(stageOf(group))
      gpu.replay(part.program)
      return startReading(group, () => gpu.read(part.tensors.moments))
    })
    const lensReading = lens && this.#readLens(lens, texts.length)
    const costs = readingCosts(gpu, before, [
      ...groupReadings,
      ...(lensReading ? [lensReading] : []),
    ])

    const reading = Promise.all([
      Promise.all(groupReadings.map(({ arrays }) => arrays)),
      lensReading?.arrays,
      costs,
    ]).then(([moments, outputs, cost_ms]): Observation => {
      const tokens = tokenCount(probed)
      // Without tokens there is no mean.
      const counted = tokens > 0 ? groups : []
      const all = counted.map(({ part }, i) => unpackInternalMoments(part.tensors, moments[i][0]))
      const merged = (name: 'mean' | 'std'): ObservedValues =>
        Object.assign({}, ...all.map((of) => of[name]))
      const textsOf = this.#config.task.tokenizer.tokens
      return {
        num_hidden_layers: model.shape.num_hidden_layers,
        rows,
        tokens,
        mean: merged('mean'),
        std: merged('std'),
        layer: request.layer,
        lenses: lens && outputs ? readLens(lens.tensors, outputs, texts, textsOf) : [],
        cost_ms,
        ...(refused.length > 0 && { refused: refused.join('\n') }),
      }
    })
    reading.catch(() => {}) // its reader may come late
    return { reading }
  }

  /** The entropies of every layer of the present weights at the responses of these rows of `batch`,
   * where the request asks for them: encodes and submits, the probe's rows at a time, and returns
   * the promise of the numbers, all in one readback. */
  async traceLayers(
    batch: RolloutBatch,
    rows: readonly number[],
  ): Promise<{ readonly reading: Promise<TracedLayers> } | undefined> {
    if (!this.#request.token_layers) return undefined
    const gpu = this.#gpu
    const { model, probe } = this.#observed
    const { num_hidden_layers } = model.shape
    const made = await this.#prepareTokens(rows.length)
    if (!made.part) {
      const refused = { num_hidden_layers, refused: made.refused }
      return { reading: Promise.resolve({ layers: refused, rows: [] }) }
    }
    const { tensors, program } = made.part
    const before = endOfQueued(gpu)
    gpu.stage(stageOf('tokens'))
    for (let first = 0; first < rows.length; first += probe.rows) {
      // The last chunk is filled up with a row that is not read.
      const chunk = Array.from({ length: probe.rows }, (_, i) => rows[first + i] ?? rows[0])
      uploadInternals(gpu, tensors.internals, chosenRows(batch, chunk))
      gpu.replay(program, { chunk: first / probe.rows })
    }
    const values = startReading('tokens', () => gpu.read(tensors.all))
    const costs = readingCosts(gpu, before, [values])
    const lengths = rows.map((row) => batch.response_lengths[row])
    const reading = Promise.all([values.arrays, costs]).then(([[read], { tokens }]) => ({
      layers: { num_hidden_layers, ...(tokens !== undefined && { cost_ms: tokens }) },
      rows: readTokenLayers(tensors, read, lengths),
    }))
    reading.catch(() => {}) // its reader may come late
    return { reading }
  }

  async #prepareTokens(rows: number): Promise<Made<TokenLayersPart>> {
    if (this.#tokens && this.#tokens.rows < rows) this.#freeTokens()
    this.#tokens ??= {
      rows,
      ...(await make(() => createTokenLayers(this.#gpu, this.#observed, rows))),
    }
    return this.#tokens
  }

  #freeTokens(): void {
    this.#tokens?.part?.free()
    this.#tokens = undefined
  }

  #readLens({ program, tensors }: LensPart, texts: number) {
    const gpu = this.#gpu
    gpu.stage(stageOf('lens'))
    for (let text = 0; text < texts; text++) gpu.replay(program, { text })
    return startReading('lens', () => gpu.read(...tensors.outputs))
  }

  /** The groups that are asked for; what cannot be made says why. */
  async #prepareGroups(
    request: ObservationRequest,
    refused: string[],
  ): Promise<{ readonly group: ObservedGroup; readonly part: GroupPart }[]> {
    const groups = []
    for (const group of request.groups) {
      const layer = layerOf(group, request)
      const made =
        this.#groups.get(group) ??
        (await make(() => createGroup(this.#gpu, this.#observed, group, layer)))
      this.#groups.set(group, { layer, ...made })
      if (made.part) groups.push({ group, part: made.part })
      else refused.push(`${group}: ${made.refused}`)
    }
    return groups
  }

  async #prepareLens(texts: number, refused: string[]): Promise<LensPart | undefined> {
    if (texts === 0) return undefined
    if (this.#lens && this.#lens.texts < texts) this.#freeLens()
    const { model, probe } = this.#observed
    const size = { texts, width: probe.width }
    this.#lens ??= { texts, ...(await make(() => createLensPart(this.#gpu, model, size))) }
    if (!this.#lens.part) refused.push(`lens: ${this.#lens.refused}`)
    return this.#lens.part
  }

  #freeLens(): void {
    this.#lens?.part?.free()
    this.#lens = undefined
  }

  /** The texts that are asked for and that the model can read. */
  #texts({ lens }: ObservationRequest, refused: string[]): LensText[] {
    if (!lens) return []
    const { task, seed } = this.#config
    const width = this.#observed.probe.width
    const heldOut = heldOutTexts(task, seed, lens.held_out)
    const all = [...heldOut, ...lens.samples.map((sample) => ({ sample, is_held_out: false }))]
    return all.flatMap(({ sample, is_held_out }) => {
      try {
        return [{ ...encodeSample(sample, task.tokenizer, width), is_held_out }]
      } catch (error) {
        refused.push(`lens: ${reasonOf(error)}`)
        return []
      }
    })
  }
}

const idsOf = ({ ids }: LensText) => ids

/** Groups that do not measure from a layer are the same for all of them. */
const layerOf = (group: ObservedGroup, { layer }: ObservationRequest): number =>
  group === 'similarity' ? layer : 0
