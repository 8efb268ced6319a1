import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createProgress } from './progress.ts'
import { plain } from './terminal.ts'

test('what steers a terminal, turns text or hides in it is written out', () => {
  expect(plain('a\u001b[2Jb\rc\u0007')).toBe('a\\u001b[2Jb\\u000dc\\u0007')
  expect(plain('pay \u202e001 \u2066x\u2069')).toBe('pay \\u202e001 \\u2066x\\u2069')
  expect(plain('a\u200bb\u200d\ufeff\u00ad\u2028\u0085')).toBe(
    'a\\u200bb\\u200d\\ufeff\\u00ad\\u2028\\u0085',
  )
  expect(plain('\u{e0041}')).toBe('\\udb40\\udc41')
  expect(plain('x\ud800')).toBe('x\\ud800')
  expect(plain('äöü → 🌱 ½ “x”\n\ty')).toBe('äöü → 🌱 ½ “x”\n\ty')
})

test('JSON that is printed reads back as it was', { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(fc.json(), fc.string({ unit: 'binary' }), (json, text) => {
      const value = [JSON.parse(json), text]
      expect(JSON.parse(plain(JSON.stringify(value)))).toEqual(value)
    }),
  )
})

test('a phase’s name does not leave its line', () => {
  const written: string[] = []
  const progress = createProgress((text) => written.push(text), 200)
  const phase = 'x\n\u001b[1Afinished\u202e'
  progress.show({ step: 1, totalSteps: 2, phase, metrics: {} })
  expect(written[0]).toContain('x \\u001b[1Afinished\\u202e')
})

test('every command speaks through it', () => {
  const files = ['src/cli', 'tools/presets', 'tools/tasks']
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
    )
    .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$|terminal\.ts$/.test(file))
  expect(files.length).toBeGreaterThan(30)
  for (const file of files)
    expect(readFileSync(file, 'utf8'), file).not.toMatch(/console\.|process\.stdout\.write/)
})
