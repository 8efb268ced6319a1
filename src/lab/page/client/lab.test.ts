import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { steerExperiment } from '../../experiment/experiment.ts'
import { decodeLink } from '../../links/link.ts'
import { PRESETS } from '../../presets/presets.ts'
import { encodeCard, makeCard } from '../../protocol/card.ts'
import type { LabCommand, LabEvent } from '../../protocol/protocol.ts'
import type { LabPage, LabPort } from '../port.ts'
import { labStore } from '../store.ts'
import { PLAN_REST_MS } from './asked_plan.ts'
import { benchmark, pause, profileStep, resume, stepOnce, traceStep, train } from './controls.ts'
import { editField, onEdit, smallerNext, trainSmaller } from './edits.ts'
import { closeLab, openLab } from './lab.ts'
import { cardLink, shareLink } from './links.ts'
import { setHidden, wantedRequest, wantObserved } from './observing.ts'
import { choosePreset } from './opening.ts'
import { reset, trainAllowing } from './starting.ts'
import { nextPhase, steer } from './steering.ts'
import { giveVerdict, keepVerdicts, undoVerdict } from './verdicts.ts'

type Listeners = Record<string, (event: { data?: LabEvent; message?: string }) => void>

class FakePort {
  readonly commands: LabCommand[] = []
  readonly listeners: Listeners = {}
  is_terminated = false
  postMessage(command: LabCommand) {
    this.commands.push(structuredClone(command))
  }
  terminate() {
    this.is_terminated = true
  }
  addEventListener(type: string, listener: Listeners[string]) {
    this.listeners[type] = listener
  }
  says(...events: LabEvent[]) {
    for (const data of events) this.listeners.message({ data })
  }
}

const ports: FakePort[] = []
let frames: (() => void)[] = []
let queries: string[] = []
let remembered: string | undefined
const port = () => ports[ports.length - 1]
const draw = () => {
  const due = frames
  frames = []
  for (const flush of due) flush()
}
const openPage = (query = '', hash = '') => {
  const page: LabPage = {
    address: 'https://understory.example/app/',
    query,
    hash,
    replaceQuery: (to) => queries.push(to),
    nextFrame: (flush) => frames.push(flush),
    recall: () => remembered,
    remember: (cache) => {
      remembered = cache
    },
    now: () => 0,
  }
  openLab(() => {
    ports.push(new FakePort())
    return port() as unknown as LabPort
  }, page)
}
const types = () => port().commands.map(({ type }) => type)
const adapter = {
  vendor: 'v',
  architecture: '',
  description: '',
  is_software: true,
  features: [],
  max_buffer_bytes: 0,
  max_binding_bytes: 0,
  has_subgroups: false,
  has_f16: false,
}
const step = (run: number, n: number): LabEvent => ({
  type: 'step',
  run,
  step: n,
  phase: 0,
  phase_step: n,
  metrics: { loss: n },
})

beforeEach(() => {
  ports.length = 0
  frames = []
  queries = []
  remembered = undefined
  vi.useFakeTimers()
})
afterEach(() => {
  closeLab()
  vi.useRealTimers()
})

test('the page opens on the first preset and asks for the adapter', () => {
  openPage()
  expect(labStore.getState()).toMatchObject({
    status: 'loading',
    preset_id: PRESETS[0].id,
    notices: [],
  })
  expect(types()).toEqual(['open'])
  port().says({ type: 'adapter', adapter })
  draw()
  expect(labStore.getState().status).toBe('idle')
})

test('a link opens its experiment and says what it could not read', () => {
  openPage('?v=1&p=tiny&seed=7&colour=red')
  const { experiment, preset_id, notices } = labStore.getState()
  expect(preset_id).toBe('tiny')
  expect(experiment.seed).toBe(7)
  expect(notices).toEqual([expect.stringMatching(/'colour'/)])
})

test('a burst of steps is one update, and a stale run changes nothing', () => {
  openPage()
  train()
  let updates = 0
  const unsubscribe = labStore.subscribe(() => updates++)
  for (let n = 1; n <= 100; n++) port().says(step(1, n))
  port().says(step(0, 999))
  expect(frames).toHaveLength(1)
  draw()
  unsubscribe()
  expect(updates).toBe(1)
  expect(labStore.getState().step).toBe(100)
  expect(labStore.getState().series.get('loss')?.length).toBe(100)
})

test('train sends what the settings show, and an edit afterwards is for the next run', () => {
  openPage()
  expect(editField('seed', 5)).toBeUndefined()
  train()
  expect(port().commands.at(-1)).toMatchObject({ type: 'start', run: 1, paused: false })
  expect(port().commands.at(-1)).toHaveProperty('experiment.seed', 5)
  const { run_experiment, experiment, status } = labStore.getState()
  expect(status).toBe('preparing')
  expect(run_experiment).toBe(experiment)
  editField('seed', 6)
  expect(labStore.getState().run_experiment?.seed).toBe(5)
  expect(labStore.getState().experiment.seed).toBe(6)
})

test('the buttons send their commands', () => {
  openPage()
  train()
  pause()
  resume()
  nextPhase()
  port().says({ type: 'status', run: 1, status: 'paused' })
  draw()
  stepOnce()
  expect(types()).toEqual(['open', 'start', 'pause', 'resume', 'next_phase', 'step'])
})

test('the kernels of a run are shown, remembered at once and sent with the next run', () => {
  openPage()
  train()
  expect(port().commands.at(-1)).toHaveProperty('kernel_cache', undefined)
  const matmul = { nt_m64_n32_k16: 'vector_4x4' }
  const kernels = 'nt_m64_n32_k16:vector_4x4'
  port().says({ type: 'kernels', run: 1, matmul, kernels, cache: 'kept' })
  expect(remembered).toBe('kept')
  draw()
  expect(labStore.getState().matmul).toEqual(matmul)
  train()
  expect(labStore.getState().matmul).toBeUndefined()
  expect(port().commands.at(-1)).toMatchObject({ type: 'start', run: 2, kernel_cache: 'kept' })
  port().says({ type: 'kernels', run: 1, matmul, kernels, cache: 'late' })
  draw()
  expect(labStore.getState().matmul).toBeUndefined()
})

test('a single step begins a run where there is none', () => {
  openPage()
  stepOnce()
  expect(port().commands.slice(1)).toMatchObject([
    { type: 'start', run: 1, paused: true },
    { type: 'step' },
  ])
})

test('reset goes back to before step 0, and what the old run still sends is dropped', () => {
  openPage()
  port().says({ type: 'adapter', adapter })
  train()
  port().says(step(1, 3))
  draw()
  expect(labStore.getState().step).toBe(3)
  reset()
  port().says(step(1, 4), {
    type: 'failed',
    run: 1,
    error: { name: '', code: 'lost', message: '' },
  })
  draw()
  const { status, step: at, series, run_experiment } = labStore.getState()
  expect({ status, at, size: series.size, run_experiment }).toEqual({
    status: 'idle',
    at: 0,
    size: 0,
    run_experiment: undefined,
  })
  expect(types().at(-1)).toBe('stop')
})

test('an edit that breaks a rule is refused with its reason and changes nothing', () => {
  openPage()
  const before = labStore.getState()
  expect(editField('rollout.n', 1)).toMatch(/because GRPO/)
  expect(labStore.getState()).toBe(before)
})

test('a preset replaces the settings', () => {
  openPage('?p=tiny&seed=9&nonsense=1')
  expect(choosePreset('no-such-preset')).toBe(false)
  expect(labStore.getState().experiment.seed).toBe(9)
  expect(choosePreset('sort-digits')).toBe(true)
  expect(labStore.getState()).toMatchObject({ preset_id: 'sort-digits', notices: [] })
  expect(labStore.getState().experiment.task.id).toBe('sort_digits')
})

test('a dead worker is said, and the next run gets a new one', () => {
  openPage()
  train()
  port().says(step(1, 2))
  port().listeners.error({ message: 'boom' })
  expect(labStore.getState()).toMatchObject({
    status: 'failed',
    step: 2,
    error: { code: 'worker', message: 'boom' },
  })
  const [dead] = ports
  expect(dead.is_terminated).toBe(true)
  dead.says(step(1, 3))
  draw()
  expect(labStore.getState().step).toBe(2)
  train()
  expect(ports).toHaveLength(2)
  expect(types()).toEqual(['open', 'start'])
  expect(labStore.getState()).toMatchObject({ status: 'preparing', error: undefined, step: 0 })
})

test('a pause is acknowledged before the worker has done the step in flight', () => {
  openPage()
  pause()
  expect(labStore.getState().is_pausing).toBe(false)
  port().says({ type: 'adapter', adapter })
  draw()
  train()
  const { run } = labStore.getState()
  port().says({ type: 'status', run, status: 'running' }, step(run, 1))
  draw()
  pause()
  expect(labStore.getState()).toMatchObject({ status: 'running', is_pausing: true })
  // The step in flight, and a progress that says nothing of the pause.
  port().says(step(run, 2))
  draw()
  expect(labStore.getState().is_pausing).toBe(true)
  port().says({ type: 'status', run, status: 'paused' })
  draw()
  expect(labStore.getState()).toMatchObject({ status: 'paused', is_pausing: false })
  resume()
  port().says({ type: 'status', run, status: 'running' })
  draw()
  pause()
  port().says({ type: 'failed', run, error: { name: 'E', code: 'internal', message: '' } })
  draw()
  expect(labStore.getState().is_pausing).toBe(false)
})

test('an unreadable message counts as a dead worker', () => {
  openPage()
  port().listeners.messageerror({})
  expect(labStore.getState()).toMatchObject({ status: 'failed', error: { code: 'worker' } })
})

test('the address follows the settings, once they rest', () => {
  openPage()
  editField('seed', 2)
  vi.advanceTimersByTime(200)
  editField('seed', 3)
  vi.advanceTimersByTime(200)
  expect(queries).toEqual([])
  vi.advanceTimersByTime(200)
  expect(queries).toEqual(['v=1&p=two-skills-bupo&seed=3'])
  train()
  port().says(step(1, 1))
  draw()
  vi.advanceTimersByTime(1000)
  expect(queries).toHaveLength(1)
  expect(decodeLink(queries[0]).experiment).toEqual(labStore.getState().experiment)
})

test('the link that is copied opens the same experiment', () => {
  openPage()
  editField('actor.optim.lr', 0.0002)
  const { url, says } = shareLink()
  expect(url).toBe('https://understory.example/app/?v=1&p=two-skills-bupo&actor.optim.lr=0.0002')
  expect(says).toMatch(/seed/)
  expect(decodeLink(new URL(url).search).experiment).toEqual(labStore.getState().experiment)
})

test('the link of a run holds the kernels it measured, as long as the settings are those of the run', () => {
  openPage()
  train()
  const plain = shareLink()
  expect(plain.url).not.toMatch(/kernels/)
  const kernels = 'nt_m64_n32_k16:vector_4x4,nt_m8_n32_k16:skinny_8x16'
  const matmul = { nt_m64_n32_k16: 'vector_4x4', nt_m8_n32_k16: 'skinny_8x16' }
  port().says({ type: 'kernels', run: 1, matmul, kernels, cache: 'kept' })
  draw()
  const { url, says } = shareLink()
  expect(url).toBe(`${plain.url}&kernels=${kernels}`)
  expect(says).toMatch(/with its seed and its kernels\.$/)
  const { experiment, notices } = decodeLink(new URL(url).search)
  expect(notices).toEqual([])
  expect(experiment).toEqual({ ...labStore.getState().experiment, kernels })
  // Other settings make other products: those are measured.
  editField('seed', 9)
  expect(shareLink().url).not.toMatch(/kernels/)
  editField('seed', experiment.seed)
  expect(shareLink().url).toBe(url)
  // A measurement that kept the defaults is one too.
  train()
  port().says({ type: 'kernels', run: 2, matmul, kernels: 'default', cache: 'kept' })
  draw()
  expect(shareLink().url).toBe(`${plain.url}&kernels=default`)
})

test('a run whose kernels are pinned has nothing to remember, and its link is the one it came by', () => {
  openPage()
  const before = remembered
  expect(editField('kernels', 'nt_m64_n32_k16:fast')).toMatch(
    /^kernels: entry 1, .*expected one of/,
  )
  const kernels = '*:slices_16x16'
  expect(editField('kernels', kernels)).toBeUndefined()
  const { url } = shareLink()
  train()
  expect(port().commands.at(-1)).toHaveProperty('experiment.kernels', kernels)
  port().says({ type: 'kernels', run: 1, matmul: { '*': 'slices_16x16' }, kernels })
  draw()
  expect(remembered).toBe(before)
  expect(labStore.getState().matmul).toEqual({ '*': 'slices_16x16' })
  expect(shareLink().url).toBe(url)
  expect(shareLink().says).toMatch(/its kernels/)
})

test('profiling begins a run that pauses, or measures a step of the one that is on', () => {
  openPage()
  port().says({ type: 'adapter', adapter })
  draw()
  profileStep()
  expect(port().commands.slice(1)).toMatchObject([
    { type: 'start', paused: true },
    { type: 'profile' },
  ])
  expect(labStore.getState().is_profiling).toBe(true)
  profileStep()
  expect(types()).toEqual(['open', 'start', 'profile', 'profile'])
})

test('a trace is asked for in a run alone; in a pause it comes with one step', () => {
  openPage()
  port().says({ type: 'adapter', adapter })
  draw()
  traceStep()
  expect(types()).toEqual(['open'])
  expect(labStore.getState().is_tracing).toBe(false)
  train()
  traceStep()
  expect(types()).toEqual(['open', 'start', 'trace'])
  expect(labStore.getState().is_tracing).toBe(true)
  port().says({ type: 'status', run: 1, status: 'paused' })
  draw()
  traceStep()
  expect(types()).toEqual(['open', 'start', 'trace', 'trace', 'step'])
})

test('a card in the hash is shown and leaves the experiment alone; a broken one is a notice', () => {
  const numbers = {
    peak_gflops: 1,
    peak_gbps: 2,
    matmul_256_gflops: 3,
    matmul_512_gflops: 4,
    sft_steps_per_second: 5,
    rl_steps_per_second: 6,
    rollout_tokens_per_second: 7,
  }
  const card = makeCard('NVIDIA H100', 'Chrome 142', numbers)
  openPage('?v=1&p=tiny&seed=7', `#${encodeCard(card)}`)
  expect(labStore.getState()).toMatchObject({ shared_card: card, notices: [] })
  expect(labStore.getState().experiment.seed).toBe(7)
  expect(cardLink(card)).toBe(`https://understory.example/app/#${encodeCard(card)}`)
  benchmark()
  expect(types()).toEqual(['open', 'benchmark'])
  expect(labStore.getState().benchmark.status).toBe('running')
  openPage('', '#card=1&adapter=x')
  expect(labStore.getState().shared_card).toBeUndefined()
  expect(labStore.getState().notices[0]).toMatch(/^The benchmark result in the link was left out/)
})

test('verdicts are of the pair in line, and go into links once they have taught something', () => {
  openPage('?v=1&p=rlhf-clicks')
  port().says({ type: 'adapter', adapter })
  draw()
  giveVerdict('a')
  expect(types()).toEqual(['open'])
  train()
  const asked = (given: number, verdicts: string): LabEvent => ({
    type: 'pairs',
    run: 1,
    phase: 1,
    pairs: [{ id: given, prompt: '1+1=', response_a: '2', response_b: '3' }],
    pending: 9,
    given,
    min_pairs: 2,
    verdicts,
  })
  port().says(
    { type: 'phase', run: 1, step: 1, phase: 1, reason: 'steps' },
    { type: 'status', run: 1, status: 'waiting' },
    asked(2, 'ab'),
  )
  draw()
  giveVerdict('skip')
  undoVerdict()
  stepOnce()
  expect(port().commands.slice(2)).toEqual([
    { type: 'verdict', id: 2, choice: 'skip' },
    { type: 'undo_verdict' },
    // A run that waits is a run: no other begins.
    { type: 'step' },
  ])
  // Training has not begun: whoever opens the link is asked as well.
  expect(shareLink().url).not.toMatch(/verdicts/)
  port().says({ type: 'step', run: 1, step: 2, phase: 1, phase_step: 1, metrics: {} })
  draw()
  const { url, says } = shareLink()
  expect(url).toMatch(/&phases.1.pairs.verdicts=ab$/)
  expect(says).toMatch(/your verdicts/)
  expect(labStore.getState().experiment).toBe(labStore.getState().run_experiment)
  keepVerdicts()
  expect(labStore.getState().experiment.phases[1]).toMatchObject({ pairs: { verdicts: 'ab' } })
  expect(shareLink().url).toBe(url)
  // Another experiment has nothing to do with them.
  choosePreset('rlhf-tiny')
  expect(shareLink().url).not.toMatch(/verdicts/)
})

test('the link of a steered run that was taught holds both, and so does the next run', () => {
  openPage('?v=1&p=rlhf-clicks')
  port().says({ type: 'adapter', adapter })
  draw()
  train()
  const { run_experiment } = labStore.getState()
  if (!run_experiment) throw new Error('no run')
  const entry = { step: 1, kind: 'append_phase', phase: run_experiment.phases[0] } as const
  const result = steerExperiment(run_experiment, entry, 0, 1)
  if (!result.ok) throw new Error(result.message)
  const { experiment } = result
  const pairs = { pairs: [], pending: 0, given: 2, min_pairs: 2, verdicts: 'ab' } as const
  port().says(
    { type: 'steered', run: 1, entry, experiment, steering: [entry] },
    { type: 'phase', run: 1, step: 60, phase: 1, reason: 'steps' },
    { type: 'pairs', run: 1, phase: 1, ...pairs },
  )
  draw()
  expect(shareLink().says).toMatch(/with its seed and what was done to it \(1\)\.$/)
  port().says({ type: 'step', run: 1, step: 61, phase: 1, phase_step: 1, metrics: {} })
  draw()
  const { url, says } = shareLink()
  expect(says).toMatch(/with its seed, your verdicts and what was done to it \(1\)\.$/)
  const { steering, phases } = decodeLink(url.split('?')[1]).experiment
  expect(steering).toEqual([
    entry,
    { step: 60, kind: 'set', path: 'phases.1.pairs.verdicts', value: 'ab' },
  ])
  expect(phases).toHaveLength(3)
  port().says({ type: 'status', run: 1, status: 'finished' })
  draw()
  keepVerdicts()
  train()
  expect(port().commands.at(-1)).toMatchObject({ type: 'start', experiment: { steering } })
})

test('what panels want is remembered, merged, and sent once a frame while a run is on', () => {
  openPage()
  const observed = () => port().commands.filter(({ type }) => type === 'observe')
  const stopFlow = wantObserved('flow', { groups: ['flow'] })
  draw()
  expect(observed()).toEqual([])
  train()
  const nothing = {
    groups: [],
    layer: 0,
    lens: undefined,
    tokens: false,
    token_layers: false,
    every: 1,
  }
  expect(port().commands.at(-1)).toMatchObject({ observe: { ...nothing, groups: ['flow'] } })
  const stopSimilarity = wantObserved('similarity', { groups: ['similarity'], layer: 2 })
  const stopTokens = wantObserved('tokens', { tokens: true })
  draw()
  draw()
  const both = { ...nothing, groups: ['flow', 'similarity'], layer: 2 }
  expect(observed()).toEqual([{ type: 'observe', request: { ...both, tokens: true } }])
  // Closed and opened again within a frame.
  stopTokens()
  const again = wantObserved('tokens', { tokens: true })
  draw()
  expect(observed()).toHaveLength(1)
  stopTokens()
  for (const stop of [stopFlow, stopSimilarity, again]) stop()
  draw()
  expect(observed().at(-1)).toEqual({ type: 'observe', request: nothing })
})

test('nothing is observed while the page is hidden, and what panels want again when it is shown', () => {
  openPage()
  const observed = () => port().commands.filter(({ type }) => type === 'observe')
  const stop = wantObserved('flow', { groups: ['flow'], token_layers: true })
  train()
  setHidden(true)
  draw()
  expect(observed()).toMatchObject([{ request: { groups: [], token_layers: false } }])
  // A panel that changes its mind meanwhile, and a run that begins, ask for nothing either.
  const stopMore = wantObserved('similarity', { groups: ['similarity'], layer: 2 })
  draw()
  expect(observed()).toHaveLength(1)
  train()
  expect(port().commands.at(-1)).toMatchObject({ type: 'start', observe: { groups: [] } })
  setHidden(false)
  draw()
  expect(observed().at(-1)).toMatchObject({
    request: { groups: ['flow', 'similarity'], layer: 2, token_layers: true },
  })
  // Hidden and shown within a frame.
  setHidden(true)
  setHidden(false)
  draw()
  expect(observed()).toHaveLength(2)
  stop()
  stopMore()
  draw()
})

test('software adapters are observed less often', () => {
  openPage()
  port().says({ type: 'adapter', adapter: { ...adapter, is_software: false } })
  draw()
  expect(wantedRequest().every).toBe(1)
  port().says({ type: 'adapter', adapter })
  draw()
  expect(wantedRequest().every).toBe(5)
})

test('the memory of what Train would train is asked for soon, and again when that has changed', () => {
  openPage('?p=tiny')
  const plans = () => port().commands.filter(({ type }) => type === 'plan')
  expect(plans()).toEqual([])
  vi.advanceTimersByTime(PLAN_REST_MS)
  expect(plans()).toEqual([{ type: 'plan', experiment: labStore.getState().experiment }])
  editField('rollout.n', 4)
  editField('rollout.n', 2)
  vi.advanceTimersByTime(PLAN_REST_MS)
  expect(plans()).toHaveLength(2)
  expect(plans()[1]).toHaveProperty('experiment.rollout.n', 2)
  port().says({ type: 'plan', bytes: 7, allowed_bytes: 9 })
  draw()
  expect(labStore.getState().plan).toEqual({ bytes: 7, allowed_bytes: 9 })
})

test('a run that asks for much memory begins once a person has allowed it, and the next one asks again', () => {
  openPage()
  port().says({ type: 'adapter', adapter })
  train()
  const { run, record } = labStore.getState()
  expect(port().commands.at(-1)).toHaveProperty('allow_bytes', undefined)
  const error = { name: 'MemoryRefusal', code: 'memory', message: 'much', bytes: 9e9 } as const
  port().says({ type: 'failed', run, error })
  draw()
  trainAllowing(9e9)
  const again = port().commands.at(-1)
  expect(again).toMatchObject({ type: 'start', run: run + 1, allow_bytes: 9e9, paused: false })
  expect(again).not.toHaveProperty('record', record)
  port().says({ type: 'failed', run: run + 1, error })
  draw()
  train()
  expect(port().commands.at(-1)).toHaveProperty('allow_bytes', undefined)
})

test('a run that has no room is trained with half the batch, as an edit that can be undone', () => {
  openPage()
  port().says({ type: 'adapter', adapter })
  train()
  const before = labStore.getState().experiment
  const { run } = labStore.getState()
  const error = { name: 'GpuError', code: 'out_of_memory', message: 'no room' } as const
  port().says({ type: 'failed', run, error })
  draw()
  const edits: unknown[] = []
  onEdit((edit) => edits.push(edit))
  const smaller = smallerNext(labStore.getState())
  trainSmaller()
  onEdit(() => {})
  expect(port().commands.at(-1)).toMatchObject({ type: 'start', run: run + 1, experiment: smaller })
  const { experiment, error: left } = labStore.getState()
  expect(left).toBeUndefined()
  expect(experiment.rollout.train_batch_size).toBe(before.rollout.train_batch_size / 2)
  expect(experiment.actor.ppo_mini_batch_size).toBe(before.actor.ppo_mini_batch_size / 2)
  expect(edits).toMatchObject([
    { kind: 'smaller', before: { experiment: before }, after: { experiment } },
  ])
})

test('a live field that still rests is sent before the list of phases changes, and with the path it was edited at', () => {
  vi.useFakeTimers()
  openPage(`v=1&p=tiny`)
  train()
  port().says({ type: 'status', run: 1, status: 'running' })
  draw()
  const { experiment } = labStore.getState()
  expect(editField('phases.1.steps', 7)).toBeUndefined()
  const [phase] = experiment.phases
  expect(steer({ kind: 'insert_phase', phase })).toBeUndefined()
  const sent = () => port().commands.filter(({ type }) => type === 'steer' || type === 'next_phase')
  expect(sent()).toMatchObject([
    { action: { kind: 'set', path: 'phases.1.steps', value: 7 } },
    { action: { kind: 'insert_phase' } },
  ])
  expect(editField('actor.optim.lr', 0.002)).toBeUndefined()
  nextPhase()
  expect(sent().slice(2)).toMatchObject([
    { action: { kind: 'set', path: 'actor.optim.lr', value: 0.002 } },
    { type: 'next_phase' },
  ])
  // Once.
  vi.advanceTimersByTime(1000)
  expect(sent()).toHaveLength(4)
  vi.useRealTimers()
})

test('a phase is not changed by its place while another one may come to stand there', () => {
  openPage('v=1&p=tiny')
  train()
  port().says({ type: 'status', run: 1, status: 'running' })
  draw()
  const { experiment } = labStore.getState()
  const [phase] = experiment.phases
  expect(steer({ kind: 'insert_phase', phase })).toBeUndefined()
  expect(editField('phases.1.steps', 7)).toContain('about to change')
  expect(steer({ kind: 'remove_phase', index: 1 })).toContain('about to change')
  expect(editField('actor.optim.lr', 0.002)).toBeUndefined()
  const entry = { step: 1, kind: 'insert_phase', phase } as const
  const after = { ...experiment, phases: experiment.phases.toSpliced(1, 0, phase) }
  port().says({ type: 'steered', run: 1, entry, experiment: after, steering: [entry] })
  draw()
  expect(editField('phases.1.steps', 7)).toBeUndefined()
  // A run that begins anew waits for nothing.
  expect(steer({ kind: 'repeat_phase' })).toBeUndefined()
  train()
  expect(editField('phases.1.steps', 8)).toBeUndefined()
})
