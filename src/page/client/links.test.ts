// The address bar, the links that are copied, and the kernels in them.
import { expect, test, vi } from 'vitest'
import { decodeLink } from '../../document/links/link.ts'
import { labStore } from '../state/store.ts'
import { train } from './controls.ts'
import { editField } from './edits.ts'
import { shareLink } from './links.ts'
import { draw, openPage, port, queries, remembered, step, withTestPages } from './testing.ts'

withTestPages()

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

test('the link of another run opens that one, with what was done to it', () => {
  openPage()
  const state = labStore.getState()
  const { experiment } = state
  const steering = [{ step: 3, kind: 'set', path: 'actor.optim.lr', value: 0.0005 }] as const
  const runDocument = { ...experiment, seed: 7, steering }
  const ended = { ...experiment, seed: 7 }
  editField('seed', 9)
  const { url, says } = shareLink('', {
    ...state,
    experiment: ended,
    runExperiment: ended,
    runDocument,
  })
  expect(decodeLink(new URL(url).search).experiment).toEqual(runDocument)
  expect(says).toContain('what was done to it (1)')
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
    /^kernels: entry 1 is .*expected one of/,
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
