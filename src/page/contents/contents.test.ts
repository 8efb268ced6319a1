// The files that the settings name, from an opened link to the start of a run. A page and a worker
// in memory.
import { expect, test, vi } from 'vitest'
import { contentHash } from '../../document/content/content.ts'
import { parseExperiment, withField } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { encodeLink } from '../../document/links/link.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { train } from '../client/controls.ts'
import { goOn } from '../client/starting.ts'
import { contents, models, openPage, port, types, withTestPages } from '../client/testing.ts'
import { bringContent } from './content_files.ts'
import { contentsStore } from './here.ts'

withTestPages()

const rows = (digits: readonly number[]): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(
    digits
      .map((d) =>
        JSON.stringify({
          prompt: [{ role: 'user', content: `${d}=` }],
          reward_model: { ground_truth: `${d}` },
        }),
      )
      .join('\n'),
  )
const FILE = rows([0, 1, 2, 3, 4])

async function experimentOn(bytes: Uint8Array<ArrayBuffer>): Promise<Experiment> {
  const sizes = { max_prompt_length: 2, max_response_length: 2, train_size: 4, test_size: 1 }
  const data = await contentHash(bytes)
  const task = { id: 'dataset', data, name: 'problems.jsonl', ...sizes }
  const set = withField(PRESETS[0].experiment, 'task', task)
  if (!set.ok) throw new Error(set.message)
  return set.experiment
}

const reaches = (status: string) =>
  vi.waitFor(() => expect(contentsStore.getState().status).toBe(status))

test('a link whose file is here trains at once, and the worker gets the file', async () => {
  const experiment = await experimentOn(FILE)
  const open = () => openPage(`?${encodeLink(experiment)}`)
  open()
  await contents.put(FILE, 'own name.jsonl')
  open()
  await reaches('here')
  train()
  const start = port().commands.find(({ type }) => type === 'start')
  expect(start).toMatchObject({ contents: [{ hash: experiment.task.data, bytes: FILE }] })
})

test('Train pressed while the file is being read begins once it is here', async () => {
  const experiment = await experimentOn(FILE)
  openPage()
  await contents.put(FILE, 'a.jsonl')
  openPage(`?${encodeLink(experiment)}`)
  train()
  expect(types()).not.toContain('start')
  await vi.waitFor(() => expect(types()).toContain('start'))
})

test('a missing file is asked for, and dropping it continues', async () => {
  const experiment = await experimentOn(FILE)
  openPage(`?${encodeLink(experiment)}`)
  await reaches('missing')
  const { data: hash } = experiment.task
  expect(contentsStore.getState().missing).toEqual([{ hash, name: 'problems.jsonl' }])
  train()
  await reaches('missing')
  expect(types()).not.toContain('start')
  const other = rows([1, 2, 3, 4, 5])
  expect(await bringContent('problems.jsonl', other)).toBe(true)
  const { problem } = contentsStore.getState()
  expect(problem).toContain(await contentHash(other))
  expect(problem).toContain(hash)
  // Something else may be meant by a file of another kind.
  expect(await bringContent('experiment.json', other)).toBe(false)
  // The hash counts, not the name.
  expect(await bringContent('renamed.txt', FILE)).toBe(true)
  expect(contentsStore.getState()).toEqual({ status: 'here', missing: [], problem: undefined })
  train()
  expect(types()).toContain('start')
  expect(await contents.list()).toMatchObject([{ hash, name: 'problems.jsonl' }])
})

test('a file that does not hold what the experiment says of it is refused with the reason', async () => {
  const fewer = rows([0, 1, 2, 3, 4, 5])
  openPage()
  await contents.put(fewer, 'a.jsonl')
  openPage(`?${encodeLink(await experimentOn(fewer))}`)
  await reaches('broken')
  expect(contentsStore.getState().problem).toMatch(/expected 4 \(task\.train_size\), found 5/)
  train()
  await reaches('broken')
  expect(types()).not.toContain('start')
})

test('a teacher whose files are gone is asked for before a run begins', async () => {
  const list = new TextEncoder().encode('[{"name":"config.json","bytes":2,"sha256":"sha256-"}]')
  const source = await contentHash(list)
  const taught = {
    phases: [{ kind: 'distill', distillation: { teacher: 'model' } }],
    teacher: { source, source_name: 'a kept state' },
  }
  const parsed = parseExperiment({ task: { id: 'sort_digits' }, ...taught })
  if (!parsed.ok) throw new Error(parsed.issues[0].message)
  const { experiment } = parsed
  openPage()
  await contents.put(list, 'a kept state')
  openPage(`?${encodeLink(experiment)}`)
  await reaches('missing')
  expect(contentsStore.getState().missing).toEqual([{ hash: source, name: 'a kept state' }])
  train()
  await reaches('missing')
  expect(types()).not.toContain('start')
  // A checkpoint has the teacher in it.
  goOn({ kind: 'resume', record: 'a'.repeat(24), step: 1 }, { experiment, preset_id: 'tiny' })
  await vi.waitFor(() => expect(types()).toContain('start'))

  models.add(source)
  openPage(`?${encodeLink(experiment)}`)
  await reaches('here')
  train()
  expect(types()).toContain('start')
})
