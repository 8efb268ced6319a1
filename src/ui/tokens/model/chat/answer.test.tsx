import { readFileSync } from 'node:fs'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test, vi } from 'vitest'
import { taskOf } from '../../../../document/experiment/fields/task_fields.ts'
import { OPENING, presetOf } from '../../../../document/presets/presets.ts'
import { loadContents } from '../../../../host/content/load.ts'
import { modelHash } from '../../../../host/content/models/model_files.ts'
import { type ShippedName, shippedNamed } from '../../../../host/content/models/shipped.ts'
import type { OpenedModelFacts } from '../../../../host/protocol/opened_model.ts'
import { openedModelStore, type Written } from '../../../../page/opened/opened_model.ts'
import { Answer } from './Answer.tsx'
import { Chat } from './Chat.tsx'
import { judged, judgedByOne } from './judged.ts'
import { whyNotTaken } from './NumberField.tsx'
import { afterPress, LAST_SEED } from './next_seed.ts'
import { shippedTasks } from './shipped_tasks.ts'
import { askedForm, FormHint } from './TaskForm.tsx'

const facts = { vocab_size: 26 } as OpenedModelFacts
const shown = (written: Pick<Written, 'asked' | 'text' | 'is_cut'>) =>
  renderToStaticMarkup(
    <Answer
      written={{ ...written, parts: [], is_done: true }}
      facts={facts}
      tasks={[OPENING.experiment]}
    />,
  ).replaceAll(/<[^>]*>/g, '')

const formOf = (name: string) =>
  renderToStaticMarkup(
    <Chat facts={{ ...facts, name, special_tokens: [] } as never} isBusy={false} />,
  )

test('a text that is continued is shown before what continues it, as one text', () => {
  expect(shown({ asked: { text: '12+7=', add_special_tokens: true }, text: '19' })).toBe('12+7=19')
})

test('a text that ended at the limit of tokens says so', () => {
  const asked = { text: 'He lost', add_special_tokens: true }
  expect(shown({ asked, text: ' a hat', is_cut: true })).toContain('stopped at the limit')
  expect(shown({ asked, text: ' a hat', is_cut: false })).not.toContain('stopped at the limit')
})

test('an answer comes after the whole conversation', () => {
  const messages = [{ role: 'user', content: 'Hello' }] as const
  expect(shown({ asked: { messages }, text: 'Good day' })).toBe('You HelloModel Good day')
})

test('a text that looks like no problem of the task is told what one looks like', () => {
  const form = askedForm(OPENING.experiment)
  const hint = (text: string) =>
    form ? renderToStaticMarkup(<FormHint form={form} text={text} />) : undefined
  for (const text of ['321', 'hello>', '321> '])
    expect(hint(text), text).toMatch(
      /A problem of this task looks like “\d{3}&gt;”, to its last sign/,
    )
  expect(hint('321>')).toBe('')
  expect(hint('')).toBe('')
})

test('an answer to a problem of the task is judged, and any other text is not', () => {
  const asked = (text: string) => ({ asked: { text, add_special_tokens: true } })
  expect(shown({ ...asked('312>'), text: '123' })).toContain('✓ right')
  expect(shown({ ...asked('312>'), text: '132' })).toMatch(/✗ wrong The right answer is 123/)
  expect(shown({ ...asked('hello'), text: '132' })).toBe('hello132')
  // Three digits were learned: five are another problem, and so are two.
  for (const other of ['31254>', '31>'])
    expect(shown({ ...asked(other), text: '132' })).toMatch(
      /Not judged: the model learned other problems, such as \d{3}&gt;$/,
    )
})

test('a shipped model of several tasks is judged by the one that poses the problem', () => {
  const hashOf = (name: ShippedName) => modelHash(shippedNamed(name).files)
  const by = (name: ShippedName, prompt: string, text: string) =>
    judgedByOne(shippedTasks(hashOf(name)), prompt, text)
  expect(by('arithmetic', '12+12=', '22')).toMatchObject({ score: 0, right: '24' })
  expect(by('arithmetic', '12+7=', '19')).toMatchObject({ score: 1, right: '19' })
  expect(by('arithmetic', '5-12=', '7')).toMatchObject({ score: 0, right: '-7' })
  expect(by('small', '312>', '132')).toMatchObject({ score: 0, right: '123' })
  expect(by('small-deep', '26,9=', '1')).toMatchObject({ score: 1, right: '1' })
  expect(by('arithmetic', 'hello', '1')).toBeUndefined()
  expect(shippedTasks('other')).toEqual([])
})

test('a model whose task is known answers greedily, no longer than the task', () => {
  expect(formOf('sorter')).toMatch(/data-testid="chat-greedy"[^>]*checked/)
  const length = taskOf(OPENING.experiment.task).max_response_length
  expect(formOf('sorter')).toMatch(
    new RegExp(`data-testid="chat-max_tokens"[^>]*value="${length}"`),
  )
  expect(formOf('story')).not.toMatch(/data-testid="chat-greedy"[^>]*checked/)
})

test.each(['arithmetic', 'small', 'small-deep'])(
  '%s answers greedily, no longer than what it was trained on',
  (name) => {
    const file = readFileSync(`public/models/${name}/understory.json`, 'utf8')
    const length = JSON.parse(file).experiment.rollout.max_response_length
    const form = formOf(name)
    expect(form).toMatch(/data-testid="chat-greedy"[^>]*checked/)
    expect(form).toMatch(new RegExp(`data-testid="chat-max_tokens"[^>]*value="${length}"`))
  },
)

test('a story is not called right: it says what was checked', async () => {
  const experiment = presetOf('story-ends')?.experiment
  if (!experiment) throw new Error('no such preset')
  // It loads what the task needs, before it misses the model's file.
  await expect(loadContents(experiment, [])).rejects.toThrow()
  const task = taskOf(experiment.task)
  const { prompt, demonstration } = task.sample(experiment.seed, 0, 'train_set')
  expect(judged(experiment, prompt, demonstration)).toMatchObject({
    score: 1,
    checks: task.partial_score,
  })
})

test('a story is judged by the reward of its run, and by its task beside it', async () => {
  const experiment = presetOf('story-ends')?.experiment
  if (!experiment) throw new Error('no such preset')
  await expect(loadContents(experiment, [])).rejects.toThrow()
  const { seed } = experiment
  const task = taskOf(experiment.task)
  const problems = Array.from({ length: 40 }, (_, i) => task.sample(seed, i, 'train_set'))
  const happy = task.aspects?.find(({ id }) => id === 'happy_end')
  const sad = problems.find((own) => happy?.of(own.prompt, own.demonstration) === 0)
  if (!sad) throw new Error('no story ends sadly')
  const written = {
    asked: { text: sad.prompt, add_special_tokens: true },
    text: sad.demonstration,
    parts: [],
    is_done: true,
  }
  const html = renderToStaticMarkup(<Answer {...{ written, facts, tasks: [experiment] }} />)
  expect(html.replaceAll(/<[^>]*>/g, '')).toContain('✗ Happy end: no The task’s own score is 1: ')
})

test('a field says what it does not take', () => {
  const [temperature] = [{ min: 0, max: 5 }]
  expect(whyNotTaken(-1, temperature)).toBe('expected a number from 0 to 5')
  expect(whyNotTaken(Number.NaN, temperature)).toBeDefined()
  expect(whyNotTaken(0, temperature)).toBeUndefined()
})

test('what was typed for one state of a model is asked of another', () => {
  const settings = { temperature: 0.3, top_p: 1, top_k: 0, max_tokens: 33, seed: 5 }
  const firstTry = { of: 'story', text: 'Once there was a hen.', settings }
  vi.spyOn(openedModelStore, 'getInitialState').mockReturnValue({
    ...openedModelStore.getState(),
    firstTry,
  })
  const form = formOf('My run, step 30')
  expect(form).toContain('Once there was a hen.')
  expect(form).toMatch(/data-testid="chat-max_tokens"[^>]*value="33"/)
  vi.restoreAllMocks()
})

test('a press takes the seed after the last one, where it samples', () => {
  const sampled = { temperature: 0.7, top_p: 1, top_k: 0, max_tokens: 8, seed: 1 }
  expect(afterPress(sampled).seed).toBe(2)
  expect(afterPress({ ...sampled, seed: LAST_SEED }).seed).toBe(0)
  expect(afterPress({ ...sampled, temperature: 0 }).seed).toBe(1)
})

test('a model that learned a task offers problems of its form, one that writes stories does not', () => {
  expect(askedForm(OPENING.experiment)?.problems).toEqual(
    expect.arrayContaining([expect.stringMatching(/^\d{3}>$/)]),
  )
  const sorter = formOf('sorter')
  expect(sorter.indexOf('chat-form')).toBeGreaterThan(0)
  expect(sorter.indexOf('chat-form')).toBeLessThan(sorter.indexOf('chat-text'))
  // The rest is behind a fold.
  expect(sorter.indexOf('chat-temperature')).toBeGreaterThan(sorter.indexOf('chat-how'))
  const story = formOf('story')
  expect(story).not.toContain('chat-form')
  expect(story).not.toContain('chat-how')
})
