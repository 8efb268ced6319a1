// Edits of the settings, and how the run that is on follows them.
import { beforeEach, expect, test, vi } from 'vitest'
import { labStore } from '../state/store.ts'
import { smallerNext, trainCheckpointed, trainSmaller } from './button_edits.ts'
import { train } from './controls.ts'
import { dropWrong, editField, keepWrong, onEdit, takeBack, wrongFields } from './edits.ts'
import { choosePreset } from './opening.ts'
import { reset } from './starting.ts'
import { nextPhase, steer } from './steering.ts'
import { adapter, draw, openPage, port, withTestPages } from './testing.ts'

withTestPages()
// What other tests edited, and nobody followed.
beforeEach(() => onEdit(() => {}))

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

test('a run that fits with gradient checkpointing alone is trained with it, as an edit of that field', () => {
  openPage()
  port().says({ type: 'adapter', adapter })
  train()
  const before = labStore.getState().experiment
  const { run } = labStore.getState()
  const bytes = { bytes: 9e9, checkpointed_bytes: 3e9 }
  const error = { name: 'MemoryRefusal', code: 'memory', message: 'much', ...bytes } as const
  port().says({ type: 'failed', run, error })
  draw()
  const edits: unknown[] = []
  onEdit((edit) => edits.push(edit))
  trainCheckpointed()
  onEdit(() => {})
  const model = { ...before.model, enable_gradient_checkpointing: true }
  const start = { type: 'start', run: run + 1, experiment: { ...before, model } }
  expect(port().commands.at(-1)).toMatchObject(start)
  expect(edits).toMatchObject([{ kind: 'field', path: 'model.enable_gradient_checkpointing' }])
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

test('a phase is not changed by its place while another one may move there', () => {
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
  // A new run waits for nothing.
  expect(steer({ kind: 'repeat_phase' })).toBeUndefined()
  train()
  expect(editField('phases.1.steps', 8)).toBeUndefined()
})

/** A run of the preset that trains, and what it is asked. */
function steeredRun() {
  openPage('v=1&p=tiny')
  train()
  port().says({ type: 'status', run: 1, status: 'running' })
  draw()
  const values = () =>
    port().commands.flatMap((command) =>
      command.type === 'steer' && command.action.kind === 'set' ? [command.action.value] : [],
    )
  /** The run takes a value; the page has not drawn it yet. */
  const answers = (value: number, refused?: string) => {
    const { runExperiment: experiment } = labStore.getState()
    if (!experiment) throw new Error('no run')
    const entry = { step: 1, kind: 'set', path: 'actor.optim.lr', value } as const
    const after = {
      ...experiment,
      actor: { ...experiment.actor, optim: { ...experiment.actor.optim, lr: value } },
    }
    port().says({
      type: 'steered',
      run: 1,
      entry,
      steering: [entry],
      experiment: refused === undefined ? after : experiment,
      ...(refused !== undefined && { refused }),
    })
  }
  const rest = () => vi.advanceTimersByTime(300)
  return { values, answers, rest }
}

test('an edit that is taken back before the page has drawn the answer to it reaches the run', () => {
  const { values, answers, rest } = steeredRun()
  const { lr } = labStore.getState().experiment.actor.optim
  editField('actor.optim.lr', 0.002)
  rest()
  editField('actor.optim.lr', lr)
  rest()
  expect(values()).toEqual([0.002, lr])
  answers(0.002)
  draw()
  answers(lr)
  draw()
  expect(labStore.getState().experiment.actor.optim.lr).toBe(lr)
  expect(labStore.getState().runExperiment?.actor.optim.lr).toBe(lr)
  // Nothing is asked twice.
  editField('actor.optim.lr', lr)
  rest()
  expect(values()).toHaveLength(2)
})

test('an answer that is drawn while a later edit rests does not take its place', () => {
  const { values, answers, rest } = steeredRun()
  const { lr } = labStore.getState().experiment.actor.optim
  editField('actor.optim.lr', 0.002)
  rest()
  editField('actor.optim.lr', lr)
  answers(0.002)
  draw()
  rest()
  expect(values()).toEqual([0.002, lr])
  expect(labStore.getState().experiment.actor.optim.lr).toBe(lr)
})

test('a value that was refused, or that a lost run was sent, can be sent again', () => {
  const { values, answers, rest } = steeredRun()
  editField('actor.optim.lr', 0.002)
  rest()
  answers(0.002, 'no room')
  draw()
  editField('actor.optim.lr', 0.002)
  rest()
  expect(values()).toEqual([0.002, 0.002])
  train()
  port().says({ type: 'status', run: 2, status: 'running' })
  draw()
  const { lr } = labStore.getState().experiment.actor.optim
  editField('actor.optim.lr', 0.003)
  rest()
  editField('actor.optim.lr', lr)
  rest()
  expect(values()).toEqual([0.002, 0.002, 0.003, lr])
})

test('what a field does not take is dropped by a reset, by other settings, and once it has a value', () => {
  openPage()
  port().says({ type: 'adapter', adapter })
  draw()
  const wrong = { path: 'actor.optim.lr', label: 'Learning rate', text: '999', problem: 'too high' }
  const left = () => wrongFields(labStore.getState())
  keepWrong(wrong)
  keepWrong({ ...wrong, text: '99' })
  expect(left()).toMatchObject([{ text: '99' }])
  reset()
  expect(left()).toEqual([])
  keepWrong(wrong)
  choosePreset('sort-digits')
  expect(left()).toEqual([])
  keepWrong(wrong)
  dropWrong('rollout.n')
  expect(left()).toHaveLength(1)
  dropWrong('actor.optim.lr')
  expect(left()).toEqual([])
})

test('what does not hold is taken back to what was there before a person began to type', () => {
  openPage()
  port().says({ type: 'adapter', adapter })
  draw()
  const path = 'rollout.n'
  const before = { value: labStore.getState().experiment.rollout.n, said: '2' }
  // The first letter of 1.5 holds by itself.
  editField(path, 1)
  const wrong = { path, label: 'Responses per prompt', text: '1.5', problem: 'no', before }
  keepWrong(wrong)
  takeBack(wrong)
  expect(labStore.getState().experiment.rollout.n).toBe(before.value)
  expect(wrongFields(labStore.getState())).toEqual([])
})

test('a model that the run begins with keeps its sizes and its tokens', () => {
  openPage('v=1&p=first-steps')
  const begun = labStore.getState().experiment
  expect(begun.model.source_name).toBe('sorter')
  expect(editField('model.num_hidden_layers', 4)).toBe(
    'model.num_hidden_layers: the model “sorter” has 3',
  )
  expect(editField('task.id', 'roman_numerals')).toMatch(
    /^task\.id: .* has other tokens than this task$/,
  )
  expect(labStore.getState().experiment).toBe(begun)
  // What fits its weights is no other size: another task of the same tokens, another length.
  expect(editField('task.id', 'reverse_digits')).toBeUndefined()
  expect(editField('model.rope_theta', 20000)).toBeUndefined()
  // A teacher is no model to begin with.
  const { lora: _, steering_vectors: __, lenses: ___, ...sizes } = begun.model
  const { padding_idx: ____, activations_dtype: _____, ...rest } = sizes
  const { enable_gradient_checkpointing: ______, ...teacher } = rest
  labStore.setState({ experiment: { ...begun, teacher } })
  expect(editField('teacher.hidden_size', 64)).toMatch(
    /^teacher\.hidden_size: the model “sorter” has 32$/,
  )
})
