import { expect, test } from 'vitest'
import { createProgress } from './progress.ts'

function progressAt(width: number) {
  const written: string[] = []
  let now_ms = 0
  const progress = createProgress(
    (text) => written.push(text),
    width,
    () => now_ms,
  )
  const step = (step: number, metrics: Record<string, number> = {}) => {
    now_ms += 500
    progress.show({ step, total_steps: 25, phase: 'phase 1/2 warm start', metrics })
  }
  return { written, step, progress }
}

test('a log gets a line every ten steps and one at the end', () => {
  const { written, step, progress } = progressAt(0)
  for (let i = 1; i <= 25; i++) step(i)
  progress.end()
  expect(written.map((line) => /\d+\/25/.exec(line)?.[0])).toEqual(['10/25', '20/25', '25/25'])
  expect(written.every((line) => line.endsWith('\n'))).toBe(true)
})

test('a person sees one line that is redrawn and never wraps', () => {
  const { written, step, progress } = progressAt(30)
  step(1)
  step(2)
  progress.end()
  expect(written.length).toBe(3)
  for (const line of written.slice(0, 2)) {
    expect(line.startsWith('\r\x1b[K')).toBe(true)
    expect(line.length - '\r\x1b[K'.length).toBe(29)
  }
  expect(written[2]).toBe('\n')
})

test('the time left follows from the steps done', () => {
  const { written, step } = progressAt(200)
  for (let i = 1; i <= 5; i++) step(i, { 'critic/score/mean': 0.25 })
  // 5 steps in 2.5 s leave 20 steps, 10 s.
  expect(written[4]).toContain('5/25  phase 1/2 warm start  reward 0.250  0:03 + 0:10')
})

test('a warm start shows its loss', () => {
  const { written, step } = progressAt(200)
  step(1, { 'train/loss': 1.5 })
  expect(written[0]).toContain('loss 1.500')
})
