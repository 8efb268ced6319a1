import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { excerpt, MARK, missingGpu, StageWatch } from './stage_watch.mjs'

const folder = mkdtempSync(join(tmpdir(), 'understory-stage-'))
afterAll(() => rmSync(folder, { recursive: true }))

const LIMITS = { quiet_ms: 1000, total_ms: 10_000 }
const line = (event) => `\n${MARK}${JSON.stringify(event)}\n`
const begin = (name) => line({ on: 'begin', file: 'a.test.ts', name })
const end = (name, state, message) => line({ on: 'end', file: 'a.test.ts', name, state, message })

test('a stage that is slow and moves continues; one that is still is ended', () => {
  const watch = new StageWatch(0)
  for (let now = 0; now < 9000; now += 900) {
    expect(watch.overdue(now, LIMITS)).toBeUndefined()
    watch.hear(begin(`test ${now}`) + end(`test ${now}`, 'passed'), now)
  }
  expect(watch.overdue(9100, LIMITS)).toBeUndefined()
  expect(watch.overdue(9200, LIMITS)).toMatch(/nothing was heard of it for 1 s/)
  watch.hear('.', 9900)
  expect(watch.overdue(10_001, LIMITS)).toMatch(/it took more than 10 s/)
})

test('what is ended names the test it was in, keeps the counts and says little', () => {
  const watch = new StageWatch(0)
  const text = Array.from({ length: 200 }, (_, i) => begin(`t${i}`) + end(`t${i}`, 'passed')).join(
    '',
  )
  // Pieces of any length.
  for (let at = 0; at < text.length; at += 37) watch.hear(text.slice(at, at + 37), 1)
  watch.hear(begin('wrong') + end('wrong', 'failed', 'expected 1\nat line 2\n'.repeat(50)), 2)
  watch.hear(`${begin('hangs')}${'noise\n'.repeat(500)}`, 5000)
  const { passed, failed, failures } = watch.ended('nothing was heard', 65_000)
  expect([passed, failed]).toEqual([200, 2])
  expect(failures[0]).toMatch(
    /^the stage was ended: nothing was heard\nin a\.test\.ts: hangs \(for 60 s\)\n/,
  )
  expect(failures[0]).toContain('after 201 tests, the last: a.test.ts: wrong')
  expect(failures[1]).toMatch(/^✗ a\.test\.ts: wrong\nexpected 1/)
  expect(failures.join('\n').split('\n').length).toBeLessThan(20)
})

test('what passed only at the second try is kept apart, with why it failed before', () => {
  const watch = new StageWatch(0)
  watch.hear(begin('racy') + end('racy', 'tried again', 'late'), 0)
  expect([watch.passed, watch.failed]).toEqual([0, 0])
  const event = { on: 'end', file: 'a.test.ts', name: 'racy', state: 'passed', message: 'late' }
  watch.hear(begin('racy') + line({ ...event, is_second: true }), 1)
  expect([watch.passed, watch.failed, watch.second]).toEqual([1, 0, ['a.test.ts: racy\nlate']])
})

test('a worker that hangs before its test was reported is found by its file', () => {
  const watch = new StageWatch(0)
  watch.hear(line({ on: 'file', file: 'b.test.ts' }) + line({ on: 'file', file: 'a.test.ts' }), 0)
  watch.hear(line({ on: 'file_end', file: 'b.test.ts' }), 0)
  expect(watch.endedWords('x', 1000)).toBe('the stage was ended: x\nin a.test.ts (for 1 s)')
})

test('a run without any test on an adapter is no success', () => {
  expect(missingGpu(['lint', 'unit'], {})).toBeUndefined()
  expect(missingGpu(['unit', 'dawn', 'gpu'], { dawn: 0, gpu: 12 })).toBeUndefined()
  expect(missingGpu(['conform'], { conform: 3 })).toBeUndefined()
  expect(missingGpu(['unit', 'dawn', 'conform', 'gpu'], { dawn: 0, conform: 0, gpu: 0 })).toMatch(
    /no test ran on a GPU or a software adapter \(dawn, conform, gpu\)/,
  )
  expect(missingGpu(['dawn'], { dawn: 0 })).toMatch(/no kernel was checked/)
})

test('long texts keep both ends', () => {
  const text = Array.from({ length: 100 }, (_, i) => `${i}`).join('\n')
  expect(excerpt(text, 2, 1)).toBe('0\n1\n… 97 more lines\n99')
  expect(excerpt(text, 0, 1)).toBe('… 99 more lines\n99')
  expect(excerpt('a\nb\n', 1, 1)).toBe('a\nb')
})

test('a program that is still is ended with what it started', { timeout: 60_000 }, async () => {
  // In a process of its own: project.mjs changes the working directory.
  const script = join(folder, 'run.mjs')
  writeFileSync(
    script,
    `import { run } from ${JSON.stringify(new URL('./project.mjs', import.meta.url).href)}
import { StageWatch } from ${JSON.stringify(new URL('./stage_watch.mjs', import.meta.url).href)}
// It holds the pipe open for as long as it lives.
const outer = \`require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
console.log('begun')\`
const watch = new StageWatch(performance.now())
const limits = { quiet_ms: 2000 }
console.log(JSON.stringify(await run(process.execPath, ['-e', outer], { output: 'quiet', watch, limits })))
`,
  )
  const out = await new Promise((resolve, reject) =>
    execFile(process.execPath, [script], (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    ),
  )
  expect(JSON.parse(out)).toMatchObject({
    text: expect.stringContaining('begun'),
    ended: expect.stringContaining('nothing was heard of it for 2 s'),
  })
})
